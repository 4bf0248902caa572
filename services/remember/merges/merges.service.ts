import { notFound } from "../../../lib/contract/faults.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { filterVisible, listProposals } from "./list.ts";
import * as contract from "./merges.contract.ts";
import { MergeModel, type Merges, present } from "./merges.model.ts";
import { type Duplicate, propose, proposeDuplicates } from "./propose.ts";
import { collapseDue, reject, resolve } from "./settle.ts";

const SWEEP_MS = 5_000;
const UNMERGED = "merges: some could not be completed; the next sweep retries";

export const mergesService: ServiceFactory = ({ store }) => {
  const proposals = store.collection(MergeModel);
  const merges: Merges = { proposals, now: () => new Date(store.now()) };
  const collapsing = new SharedLoop("merges", (broker) => collapseDue(merges, broker), SWEEP_MS, UNMERGED);

  return {
    name: "merges",
    mixins: [collapsing.mixin],
    actions: {
      propose: action(contract.proposeMerge, async (ctx) => present(await propose(merges, ctx))),
      resolve: action(contract.resolveMerge, async (ctx) => present(await resolve(merges, ctx))),
      reject: action(contract.rejectMerge, async (ctx) => present(await reject(merges, ctx))),

      list: action(contract.listMerges, async (ctx) => {
        const { rows, total } = await listProposals(proposals, ctx);
        return { merge_proposals: rows.map(present), total };
      }),

      get: action(contract.getMerge, async (ctx) => {
        const { id } = ctx.params;
        const row = await proposals.findOne(ctx.meta.caller.tenant_id, { _id: id });
        const [visible] = await filterVisible(ctx, row ? [row] : []);
        if (!visible) throw notFound("merge_proposal", id);
        return present(visible);
      }),

      /** Proposes memories whose embeddings are nearly the same. */
      propose_duplicates: idempotent<{ tenant_id: string; duplicates: Duplicate[] }>(({ params }) =>
        proposeDuplicates(merges, params),
      ),

      /** Returns the memories of open proposals, for the health snapshot. */
      open_pairs: idempotent<{ tenant_id: string; limit: number }>(
        async ({ params: { tenant_id, limit } }) => {
          const projection = { memory_a_id: 1, memory_b_id: 1 } as const;
          const rows = await proposals.find(tenant_id, { status: "open" }, { limit, projection });
          return rows.map(({ memory_a_id, memory_b_id }) => [memory_a_id, memory_b_id]);
        },
      ),

      /** Removes all proposals of erased memories; returns how many. */
      erase_memories: idempotent<EraseMemories>(async ({ params }) => {
        const of = { $in: params.ids };
        const either = [{ memory_a_id: of }, { memory_b_id: of }];
        return { merge_proposals: await eraseRows(proposals, params, ...either) };
      }),
    },
  };
};
