import type { ActionSchema } from "moleculer";
import type { Call } from "../../lib/caller.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Access } from "../../lib/visibility.ts";
import { visibleTo } from "../../lib/visibility.ts";
import { callerAccess } from "../../mixins/access.ts";
import { action } from "../runtime.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";
import { isExpired } from "./rows.ts";
import { memoryHealth } from "./usage.contract.ts";

const STALE_DAYS = 90;
const PAGE = 2_000;
const MOST_PAIRS = 10_000;

/** Ages in days, below which a memory belongs into the bucket. */
const BUCKETS: readonly [label: string, below: number][] = [
  ["under_7d", 7],
  ["7d_to_30d", 30],
  ["30d_to_90d", 90],
  ["90d_to_365d", 365],
  ["over_365d", Number.POSITIVE_INFINITY],
];

type Looked = Pick<
  MemoryDoc,
  "_id" | "type" | "freshness_date" | "accessed_at" | "expires_at" | "changed_at"
>;
const PROJECTION = { type: 1, freshness_date: 1, accessed_at: 1, expires_at: 1, changed_at: 1 } as const;

/** The part of the memories service that tells how they are doing (spec: Memory health snapshot). */
export function healthActions(parts: Parts): Record<string, ActionSchema> {
  return {
    health: action(memoryHealth, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const now = parts.now().getTime();
      const memories = await inForce(parts, tenant_id, await callerAccess(ctx as Call), now);
      const [linked, pairs, embed_gap_count] = await Promise.all([
        linkedOf(ctx as Call, memories),
        ctx.call<[string, string][], unknown>("merges.open_pairs", { tenant_id, limit: MOST_PAIRS }),
        ctx.call<number, unknown>("search.embed_gap", { tenant_id, kind: "memory" }),
      ]);
      return {
        duplicate_count: pairs.filter(([a, b]) => memories.has(a) && memories.has(b)).length,
        orphan_count: memories.size - linked,
        embed_gap_count,
        ...countsOf([...memories.values()], now),
      };
    }),
  };
}

/** The memories in force that the caller may read, by id. */
async function inForce({ memories }: Parts, tenant_id: string, access: Access, now: number) {
  const found = new Map<string, Looked>();
  const options = { sort: { changed_at: 1, _id: 1 } as const, limit: PAGE, projection: PROJECTION };
  let last: Looked | undefined;
  for (;;) {
    const wanted = { status: "active" as const, $and: [visibleTo(access), after(last)] };
    const rows: Looked[] = await memories.find(tenant_id, wanted as never, options);
    for (const row of rows) found.set(row._id, row);
    if (rows.length < PAGE) break;
    last = rows.at(-1);
  }
  for (const [id, row] of found) if (isExpired(row, now)) found.delete(id);
  return found;
}

function after(last: Looked | undefined): object {
  if (!last) return {};
  const { changed_at, _id } = last;
  const later = { $or: [{ changed_at: { $gt: changed_at } }, { _id: { $gt: _id } }] };
  return { changed_at: { $gte: changed_at }, ...later };
}

/** How many of these memories have a relationship. */
async function linkedOf(ctx: Call, memories: ReadonlyMap<string, unknown>): Promise<number> {
  const linked = new Set<string>();
  const { tenant_id } = ctx.meta.caller;
  let after = "";
  for (;;) {
    const edges = await ctx.call<
      { id: string; source_memory_id: string; target_memory_id: string }[],
      unknown
    >("relationships.page", { tenant_id, after, limit: PAGE });
    for (const { source_memory_id, target_memory_id } of edges) {
      for (const end of [source_memory_id, target_memory_id]) if (memories.has(end)) linked.add(end);
    }
    const last = edges.at(-1);
    if (!last || edges.length < PAGE) return linked.size;
    after = last.id;
  }
}

function countsOf(memories: Looked[], now: number) {
  const decay_distribution = Object.fromEntries(BUCKETS.map(([label]) => [label, 0]));
  for (const { accessed_at } of memories) {
    const days = (now - accessed_at.getTime()) / DAY_MS;
    const [label] = BUCKETS.find(([, below]) => days < below) as [string, number];
    decay_distribution[label] = (decay_distribution[label] as number) + 1;
  }
  const staleBefore = now - STALE_DAYS * DAY_MS;
  return {
    stale_count: memories.filter(({ freshness_date }) => freshness_date && +freshness_date < staleBefore)
      .length,
    reflection_count: memories.filter(({ type }) => type === "reflection").length,
    decay_distribution,
  };
}
