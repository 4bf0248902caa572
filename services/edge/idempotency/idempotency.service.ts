import { onEveryNode } from "../../../mixins/every-node.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { event, idempotent, type ServiceFactory } from "../../runtime.ts";
import { eraseAnswers } from "./erase-answers.ts";
import { ErasedLately } from "./erased-lately.ts";
import { IdempotencyModel } from "./idempotency.model.ts";
import { type CloseParams, IdempotencyKeys, type OpenParams } from "./keys.ts";
import { sweep } from "./sweep.ts";

const SWEEP_MS = 60_000;

type Erased = { tenant_id: string; ids: string[] };

/** Stores the answer to each Idempotency-Key (api.md "Everywhere"). Its only caller is the gateway. */
export const idempotencyService: ServiceFactory = ({ config, store, secrets }) => {
  const records = store.collection(IdempotencyModel);
  const erased = new ErasedLately(() => performance.now());
  const keys = new IdempotencyKeys({ records, store, secrets, config, erased });
  const sweeping = new SharedLoop(
    "sweep",
    () => sweep(records, store.now()),
    SWEEP_MS,
    "idempotency: the sweep failed and will be retried",
  );

  return {
    name: "idempotency",
    mixins: [sweeping.mixin],
    actions: {
      /** May wait for the first request with the key; the timeout leaves time to answer. */
      open: {
        ...idempotent<OpenParams>(({ params }) => keys.open(params)),
        timeout: keys.longestOpenMs,
      },
      close: idempotent<CloseParams>((ctx) => {
        const { params } = ctx;
        return keys.close(params, (hash) =>
          ctx.call("blobs.erase", { tenant_id: params.tenant_id, hashes: [hash] }),
        );
      }),

      /** Drops answers that contain any of these ids: repeating such a request is a conflict then. */
      erase: idempotent<Erased>(async (ctx) => {
        const { tenant_id, ids } = ctx.params;
        // First, so that no answer with them is stored while the stored ones are searched.
        await onEveryNode(ctx.broker, "idempotency.note_erased", ctx.params);
        const eraseBlobs = (hashes: string[]) => ctx.call("blobs.erase", { tenant_id, hashes });
        await eraseAnswers(records, tenant_id, new Set(ids), eraseBlobs);
      }),

      /** Stops storing answers that contain any of these ids. */
      note_erased: idempotent<Erased>(({ params }) => erased.add(params.tenant_id, params.ids)),

      blob_references: idempotent<{ tenant_id: string; hashes: string[] }>(async ({ params }) => {
        const due = {
          ...{ answer_blob: { $in: params.hashes }, answer: { $ne: null } },
          expires_at: { $gt: new Date(store.now()) },
        };
        const found = await records.find(params.tenant_id, due, { projection: { answer_blob: 1 } });
        return found.map(({ answer_blob }) => answer_blob);
      }),
    },
    events: {
      "node.stopping": event(() => keys.stop()),
    },
  };
};
