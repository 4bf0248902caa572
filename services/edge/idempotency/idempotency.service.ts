import { onEveryNode } from "../../../lib/broker/between-nodes.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { EraseContent } from "../../erasers.ts";
import { idempotent, type ServiceFactory } from "../../runtime.ts";
import { type ErasedAnswers, eraseAnswers, RecentErasures, toIsErased } from "./erase-answers.ts";
import { type IdempotencyDoc, IdempotencyModel } from "./idempotency.model.ts";
import { type CloseParams, IdempotencyKeys, type OpenParams } from "./keys.ts";

const SWEEP_MS = 60_000;

type Erased = { tenant_id: string } & ErasedAnswers;

/** Stores the answer to each Idempotency-Key (api.md "Everywhere"). Its only caller is the gateway. */
export const idempotencyService: ServiceFactory = ({ config, store, secrets }) => {
  const records = store.collection(IdempotencyModel);
  const erased = new RecentErasures(() => performance.now());
  const keys = new IdempotencyKeys({ records, store, secrets, config, erased });
  const sweeping = new SharedLoop("sweep", () => sweep(records, store.now()), SWEEP_MS);

  return {
    name: "idempotency",
    mixins: [sweeping.mixin],
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

const BATCH = 1000;

/** Deletes expired keys, a batch of them, and the secrets of answers. Returns whether there may be more. */
export async function sweep(records: TenantCollection<IdempotencyDoc>, now: number): Promise<boolean> {
  const due = { $lte: new Date(now) };
  const spent = { secret_ends_at: due };
  const options = { projection: { tenant_id: 1 } as const, limit: BATCH };
  const rows = (await records.system.find(spent, options).toArray()) as IdempotencyDoc[];
  for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const update = { $set: { answer: null }, $unset: { secret_ends_at: 1, answer_blob: 1 } };
    await records.updateMany(tenant_id, { _id: { $in: those.map(({ _id }) => _id) }, ...spent }, update);
  }
  const more = await records.deleteDue({ expires_at: due }, BATCH);
  return more || rows.length === BATCH;
}
