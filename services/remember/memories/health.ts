import type { RequestContext } from "../../../lib/access/caller.ts";
import { type Access, visibleTo } from "../../../lib/access/visibility.ts";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { Where } from "../../../storage/query.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";

const STALE_DAYS = 90;
const PAGE = 2_000;
/** Limits a snapshot to the memories changed last: more would take seconds and give the same picture. */
const MOST_MEMORIES = 100_000;
const MOST_EDGES = 200_000;
const MOST_PAIRS = 10_000;

/** Age buckets; upper bounds in days, exclusive. */
const BUCKETS: readonly [label: string, below: number][] = [
  ["under_7d", 7],
  ["7d_to_30d", 30],
  ["30d_to_90d", 90],
  ["90d_to_365d", 365],
  ["over_365d", Number.POSITIVE_INFINITY],
];

const PROJECTION = { type: 1, freshness_date: 1, accessed_at: 1, expires_at: 1, changed_at: 1 } as const;

/** Reports the health of memories (spec: Memory health snapshot). */
export async function reportHealth(memories: Memories, ctx: RequestContext) {
  const { tenant_id } = ctx.meta.caller;
  const now = memories.now();
  const ids = new Set<string>();
  const decay_distribution = Object.fromEntries(BUCKETS.map(([label]) => [label, 0]));
  let stale_count = 0;
  let reflection_count = 0;
  const daysSince = (at: Date) => (now.getTime() - at.getTime()) / DAY_MS;
  for await (const row of inForce(memories, tenant_id, await callerAccess(ctx), now)) {
    ids.add(row._id);
    const days = daysSince(row.accessed_at);
    const [label] = BUCKETS.find(([, below]) => days < below) as [string, number];
    decay_distribution[label] = (decay_distribution[label] as number) + 1;
    if (row.type === "reflection") reflection_count++;
    if (row.freshness_date && daysSince(row.freshness_date) > STALE_DAYS) stale_count++;
  }
  const [linked, pairs, embed_gap_count] = await Promise.all([
    countLinked(ctx, ids),
    ctx.call<[string, string][], unknown>("merges.open_pairs", { tenant_id, limit: MOST_PAIRS }),
    ctx.call<number, unknown>("search.embed_gap", { tenant_id }).catch(unknown),
  ]);
  return {
    duplicate_count: pairs.filter(([a, b]) => ids.has(a) && ids.has(b)).length,
    orphan_count: ids.size - linked,
    embed_gap_count,
    ...{ stale_count, reflection_count, decay_distribution },
  };
}

/** Returns null, not zero: without a search node the value is unknown. */
function unknown(err: unknown): null {
  if (isUnreached(err)) return null;
  throw err;
}

/** Yields the memories in force that the caller may read, the latest changed first. */
async function* inForce(memories: Memories, tenant_id: string, access: Access, now: Date) {
  const options = { sort: { changed_at: -1, _id: -1 } as const, limit: PAGE, projection: PROJECTION };
  let last: MemoryDoc | undefined;
  for (let seen = 0; seen < MOST_MEMORIES; seen += PAGE) {
    const wanted = { status: "active" as const, $and: [visibleTo(access), before(last)] };
    const rows = await memories.rows.find(tenant_id, wanted, options);
    for (const row of rows) if (!memories.isExpired(row, now)) yield row;
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

function before(last: MemoryDoc | undefined): Where<MemoryDoc> {
  if (!last) return {};
  const { changed_at, _id } = last;
  const earlier = { $or: [{ changed_at: { $lt: changed_at } }, { _id: { $lt: _id } }] };
  return { changed_at: { $lte: changed_at }, ...earlier };
}

type Ends = Record<"_id" | "source_memory_id" | "target_memory_id", string>;

async function countLinked(ctx: RequestContext, memories: ReadonlySet<string>): Promise<number> {
  const linked = new Set<string>();
  const { tenant_id } = ctx.meta.caller;
  let after = "";
  for (let seen = 0; seen < MOST_EDGES; seen += PAGE) {
    const params = { tenant_id, after, limit: PAGE };
    const edges = await ctx.call<Ends[], object>("relationships.page", params);
    for (const { source_memory_id, target_memory_id } of edges) {
      for (const end of [source_memory_id, target_memory_id]) if (memories.has(end)) linked.add(end);
    }
    const last = edges.at(-1);
    if (!last || edges.length < PAGE) break;
    after = last._id;
  }
  return linked.size;
}
