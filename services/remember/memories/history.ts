import type { RequestContext } from "../../../lib/access/caller.ts";
import type { Where } from "../../../storage/query.ts";
import type { MemoryStatus } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import { correctionsOf, presentValidity } from "./validity.ts";

const MOST_VERSIONS = 200;

/**
 * Returns the versions of a memory, newest first: those that it superseded, directly or indirectly, and those that
 * superseded it. Names only what the caller may read.
 *
 * @throws Fault not_found
 */
export async function readHistory(memories: Memories, ctx: RequestContext, id: string) {
  const { doc, access } = await memories.findReadable(ctx, id);
  const { tenant_id } = doc;
  // Those that the caller may not read lead to others.
  const seen = new Set([id]);
  const found = new Map([[id, doc]]);
  const add = async (filter: Where<MemoryDoc>): Promise<MemoryDoc[]> => {
    const { rows } = await memories.rows.findWithin(tenant_id, filter, { limit: MOST_VERSIONS });
    const fresh = rows.filter(({ _id }) => !seen.has(_id));
    for (const row of fresh) {
      seen.add(row._id);
      if (memories.mayReadById(ctx.meta.caller, access, row)) found.set(row._id, row);
    }
    return fresh;
  };
  const isReplaced = { status: { $in: ["superseded", "forgotten"] as MemoryDoc["status"][] } };
  for (let some = [doc]; some.length > 0 && seen.size < MOST_VERSIONS; )
    some = await add({ superseded_by: { $in: some.map(({ _id }) => _id) }, ...isReplaced });
  for (let some = [doc]; some.length > 0 && seen.size < MOST_VERSIONS; ) {
    const next = some.flatMap(({ superseded_by }) => superseded_by ?? []);
    some = next.length > 0 ? await add({ _id: { $in: next } }) : [];
  }
  const versions = [...found.values()].sort(
    (a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? 1 : -1),
  );
  const replacing = new Map([...found.values()].map((row) => [row.superseded_by, row.superseded_reason]));
  return {
    versions: versions.slice(0, MOST_VERSIONS).map((row) => ({
      ...{ id: row._id, title: row.title, content: row.content, status: row.status as MemoryStatus },
      ...{ valid: presentValidity(row), recorded_at: row.created_at.toISOString() },
      ...{ agent_id: row.agent_id, user_id: row.user_id, reason: replacing.get(row._id) ?? null },
      superseded_by: row.superseded_by !== null && found.has(row.superseded_by) ? row.superseded_by : null,
      superseded_at: row.invalid_at?.toISOString() ?? null,
      corrections: correctionsOf(row).reverse(),
    })),
  };
}
