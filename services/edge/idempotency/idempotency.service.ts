import { onEveryNode } from "../../../lib/broker/between-nodes.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { EraseContent } from "../../erasers.ts";
import { idempotent, type ServiceFactory } from "../../runtime.ts";
import { type ErasedAnswers, eraseAnswers, RecentErasures, toIsErased } from "./erase-answers.ts";
import { IdempotencyModel } from "./idempotency.model.ts";
import { type CloseParams, IdempotencyKeys, type OpenParams } from "./keys.ts";

const SWEEP_MS = 60_000;
const WITHOUT_SECRET = { $set: { answer: null }, $unset: { secret_ends_at: 1, answer_blob: 1 } } as const;

type Erased = { tenant_id: string } & ErasedAnswers;

/** Stores the answer to each Idempotency-Key (api.md "Everywhere"). Its only caller is the gateway. */
export const idempotencyService: ServiceFactory = ({ config, store, secrets }) => {
  const records = store.collection(IdempotencyModel);
  const erased = new RecentErasures(() => performance.now());
  const keys = new IdempotencyKeys({ records, store, secrets, config, erased });
  const all = { rows: records, now: store.now };
  const forgetting = deletion({ ...all, by: "secret_ends_at" }, (tenant_id, over) =>
    records.updateMany(tenant_id, over, WITHOUT_SECRET),
  );
  const secretsOver = new SharedLoop("secrets", forgetting, SWEEP_MS);
  const sweeping = new SharedLoop("sweep", deletion({ ...all, by: "expires_at" }), SWEEP_MS);

  return {
    name: "idempotency",
    mixins: [sweeping.mixin, secretsOver.mixin],
    actions: {
      open: idempotent<OpenParams>(({ params }) => keys.open(params)),
      close: idempotent<CloseParams>(({ params }) => keys.close(params)),

      /** Drops answers with erased data: repeating such a request is a conflict then. */
      erase: idempotent<EraseContent>(
        async ({ broker, params: { agent_id: caller_id, dry_run, ...given } }) => {
          if (dry_run) return {};
          const params: Erased = { ...given, ...(caller_id !== undefined && { caller_id }) };
          // First, so that no answer with them is stored while the stored ones are searched.
          await onEveryNode(broker, "idempotency.note_erased", params);
          await eraseAnswers(records, params.tenant_id, toIsErased(params));
          return {};
        },
      ),

      /** Stops storing answers with erased data. */
      note_erased: idempotent<Erased>(({ params }) => erased.add(params.tenant_id, params)),
    },
  };
};
