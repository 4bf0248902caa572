import type { RequestContext } from "../../../lib/access/caller.ts";
import { mayRead } from "../../../lib/access/visibility.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";

/** Limits the lineage to the nearest ancestors. */
const MOST_ANCESTORS = 500;

/**
 * Returns a memory's lineage (spec: Lineage result): the memories merged into it, and into those, nearest first, and
 * the one it replaced. Names only readable memories.
 */
export async function explainLineage(memories: Memories, ctx: RequestContext, id: string) {
  const { doc, access } = await memories.findReadable(ctx, id);
  const { tenant_id } = doc;
  const merge_lineage: { loser_memory_id: string; winner_memory_id: string; origin: string }[] = [];
  const seen = new Set([id]);
  let winners = [id];
  let replaced: MemoryDoc[] = [];
  while (winners.length > 0 && seen.size < MOST_ANCESTORS) {
    const sort = { invalid_at: -1 as const, _id: -1 as const };
    const limit = MOST_ANCESTORS;
    const projection = { content: 0, metadata: 0, citations: 0 } as const;
    const merged = { superseded_by: { $in: winners } };
    const into = await memories.rows.find(tenant_id, merged, { sort, limit, projection });
    const readable = into.filter((row) => mayRead(access, row) && !seen.has(row._id));
    // Forgetting what was replaced does not undo the replacement.
    const isReplaced = ({ status, merge_origin }: MemoryDoc) =>
      status === "superseded" || (status === "forgotten" && !merge_origin);
    if (winners[0] === id) replaced = readable.filter(isReplaced);
    const losers = readable.filter(({ status }) => status === "merged");
    for (const { _id, superseded_by, merge_origin } of losers) {
      seen.add(_id);
      merge_lineage.push({
        loser_memory_id: _id,
        winner_memory_id: superseded_by as string,
        origin: merge_origin ?? "proposal",
      });
    }
    winners = losers.map(({ _id }) => _id);
  }
  return {
    memory_id: id,
    merge_lineage,
    superseded: doc.superseded_by !== null,
    supersedes_target: replaced[0]?._id ?? null,
  };
}
