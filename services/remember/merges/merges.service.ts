import type { Call } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type EraseMemories, eraseRows } from "../../erasers.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { readableMemories } from "../memories/readable.ts";
import type { MergeStatus } from "./merges.contract.ts";
import * as contract from "./merges.contract.ts";
import { type MergeDoc, MergeModel, type Merges, present } from "./merges.model.ts";
import { type Duplicate, propose, proposeDuplicates } from "./propose.ts";
import { newCollapse, reject, resolve } from "./settle.ts";

const SWEEP_MS = 5_000;

export const mergesService: ServiceFactory = ({ store }) => {
  const proposals = store.collection(MergeModel);
  const merges: Merges = { proposals, now: () => new Date(store.now()) };
  const collapsing = new SharedLoop("merges", newCollapse(merges), SWEEP_MS);

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

const CHUNK = 500;
/** Proposals that one request examines: `total` counts among them. */
const MOST_LOOKED_AT = 10_000;
const BRIEF = { merged_content: 0 } as const;
const LATEST = { proposed_at: -1, _id: -1 } as const;

interface ListParams {
  status?: MergeStatus;
  offset?: number;
  limit?: number;
}

/** Returns merge proposals that the caller may see, latest first, with their total. */
export async function listProposals(
  proposals: TenantCollection<MergeDoc>,
  ctx: Call<ListParams>,
): Promise<{ rows: MergeDoc[]; total: number }> {
  const { status, offset = 0, limit = 50 } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const filter = status ? { status } : {};
  if (isOrgAdmin(ctx.meta.caller)) {
    const [rows, total] = await Promise.all([
      proposals.find(tenant_id, filter, { sort: LATEST, skip: offset, limit, projection: BRIEF }),
      proposals.count(tenant_id, filter),
    ]);
    return { rows, total };
  }
  const visible: MergeDoc[] = [];
  for (let skip = 0; skip < MOST_LOOKED_AT; skip += CHUNK) {
    const rows = await proposals.find(tenant_id, filter, {
      sort: LATEST,
      skip,
      limit: CHUNK,
      projection: BRIEF,
    });
    visible.push(...(await filterVisible(ctx, rows)));
    if (rows.length < CHUNK) break;
  }
  return { rows: visible.slice(offset, offset + limit), total: visible.length };
}

/** Returns the proposals whose memories the caller may both read; all of them for an org admin. */
async function filterVisible(ctx: Call, rows: MergeDoc[]): Promise<MergeDoc[]> {
  if (rows.length === 0 || isOrgAdmin(ctx.meta.caller)) return rows;
  const ids = rows.flatMap((row) => [row.memory_a_id, row.memory_b_id]);
  const readable = await readableMemories(ctx, ids, { brief: true });
  return rows.filter((row) => readable.has(row.memory_a_id) && readable.has(row.memory_b_id));
}
