import type { Call } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { readableMemories } from "../memories/readable.ts";
import type { MergeStatus } from "./merges.contract.ts";
import type { MergeDoc } from "./merges.model.ts";

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
export async function filterVisible(ctx: Call, rows: MergeDoc[]): Promise<MergeDoc[]> {
  if (rows.length === 0 || isOrgAdmin(ctx.meta.caller)) return rows;
  const ids = rows.flatMap((row) => [row.memory_a_id, row.memory_b_id]);
  const readable = await readableMemories(ctx, ids, { brief: true });
  return rows.filter((row) => readable.has(row.memory_a_id) && readable.has(row.memory_b_id));
}
