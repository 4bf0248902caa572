import type { Call } from "../../../lib/access/caller.ts";
import type { SearchFind } from "../../../storage/search/entry.ts";
import { callerAccess } from "../../identity/agents/read-access.ts";
import { recentShare } from "../search/ranking.ts";
import {
  type BundleCandidate,
  type BundleLeg,
  type BundleLegAnswer,
  createdWithin,
  nameLegs,
  searchBounds,
} from "./bundle-leg.ts";
import { latest } from "./list.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import { UNJUDGED } from "./new-memory.ts";
import { findRows, matching, SPARE } from "./search.ts";
import { heldAt, presentValidity } from "./validity.ts";

/** The most important memories are chosen from this many of the latest. */
const LOOKED_AT = 100;
const EXCERPT = 4000;

export function forBundle(memories: Memories, ctx: Call<BundleLeg>): Promise<BundleLegAnswer> {
  const { query } = ctx.params;
  return query === null ? findRecent(memories, ctx) : findMatching(memories, ctx, query);
}

async function findMatching(
  memories: Memories,
  ctx: Call<BundleLeg>,
  query: string,
): Promise<BundleLegAnswer> {
  const { project_id, scope, limit, include_possible = false } = ctx.params;
  const held = heldAt(ctx.params, memories.now());
  const where = {
    ...(project_id !== undefined && { project_id }),
    ...(scope && { scope }),
    ...searchBounds(ctx.params),
    ...(held && { held }),
  };
  const access = await callerAccess(ctx);
  const { tenant_id } = ctx.meta.caller;
  const find: SearchFind = { tenant_id, kind: "memory", query, access, where, limit, spare: SPARE };
  const { found, hits } = await findRows(memories, ctx, find);
  const items = matching(hits, include_possible)
    .slice(0, limit)
    .map(({ row, score, sources }) => toItem(row, score, nameLegs(sources)));
  return { items, degraded: found.degraded };
}

async function findRecent(memories: Memories, ctx: Call<BundleLeg>): Promise<BundleLegAnswer> {
  const { project_id, scope, limit } = ctx.params;
  const now = memories.now();
  const rows = await latest(
    memories.rows,
    ctx.meta.caller.tenant_id,
    await callerAccess(ctx),
    {
      ...(scope && { scope }),
      where: { ...(project_id !== undefined && { project_id }), ...createdWithin(ctx.params) },
      limit: Math.max(LOOKED_AT, limit),
      past: ctx.params,
    },
    now,
  );
  const scored = rows.map((row) =>
    toItem(row, recentShare(row.created_at.getTime(), now.getTime()) * row.importance, "recent"),
  );
  return { items: scored.sort((a, b) => b.score - a.score).slice(0, limit), degraded: [] };
}

function toItem(doc: MemoryDoc, score: number, source: string): BundleCandidate {
  const { _id, title, content, agent_id, created_at, type, scope, confidence, importance } = doc;
  return {
    ...{ item_id: _id, title, excerpt: content.slice(0, EXCERPT), score, source },
    ...{ by: agent_id, created_at: created_at.toISOString() },
    facts: [`${type}, scope ${scope}`, intervalOf(doc), ...judged({ importance, confidence })],
  };
}

/** Returns when a memory holds, by days. */
function intervalOf(doc: MemoryDoc): string {
  const { from, until } = presentValidity(doc);
  return until ? `held ${from.slice(0, 10)} to ${until.slice(0, 10)}` : `holds since ${from.slice(0, 10)}`;
}

/** Returns what somebody said of a memory: the default says nothing. */
function judged(values: Record<"importance" | "confidence", number>): string[] {
  const said = Object.entries(values).filter(([, value]) => value !== UNJUDGED);
  return said.length ? [said.map(([name, value]) => `${name} ${value}`).join(", ")] : [];
}
