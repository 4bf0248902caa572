import type { Call } from "../../../lib/access/caller.ts";
import { defined } from "../../../lib/defined.ts";
import type { SearchFind, SearchWhere } from "../../../storage/search/entry.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import { recentShare } from "../search/ranking.ts";
import { boundsOf, rangeOf } from "./filters.ts";
import { latest } from "./list.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import { UNJUDGED } from "./new-memory.ts";
import { findRows, matching, SPARE } from "./search.ts";
import { presentValidity } from "./validity.ts";

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
  const { tenant_id } = ctx.meta.caller;
  const held = await memories.heldAt(tenant_id, ctx.params);
  const where = { project_id, scope, ...searchBounds(ctx.params), held };
  const access = await callerAccess(ctx);
  const find: SearchFind = { tenant_id, kind: "memory", query, access, where, limit, spare: SPARE };
  const { found, hits } = await findRows(memories, ctx, find);
  const items = matching(hits, include_possible)
    .slice(0, limit)
    .map(({ row, score, sources }) => toItem(row, score, nameLegs(sources)));
  return { items, degraded: found.degraded };
}

async function findRecent(memories: Memories, ctx: Call<BundleLeg>): Promise<BundleLegAnswer> {
  const { project_id, scope, limit } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const now = memories.now();
  const rows = await latest(
    memories.rows,
    tenant_id,
    await callerAccess(ctx),
    {
      scope,
      where: { ...defined({ project_id }), ...createdWithin(ctx.params) },
      limit: Math.max(LOOKED_AT, limit),
      past: await memories.heldAt(tenant_id, ctx.params),
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

/**
 * The request of a bundle to each domain with content for it: `<domain>.for_bundle` (internal), for the caller in
 * `ctx.meta`. Times are ISO 8601.
 */
export interface BundleLeg {
  /** Null: returns the latest instead of matches. */
  query: string | null;
  /** A project's key: only its content. Domains without projects ignore it. */
  project_id?: string;
  /** Earliest `created_at`. */
  since?: string;
  /** Bound of `created_at`, exclusive. */
  until?: string;
  /** For memories: what held then, as far as was known then. */
  as_of?: string;
  known_at?: string;
  /** For memories: also what may not fit the query. */
  include_possible?: boolean;
  /** For memories. */
  scope?: "agent" | "team" | "institutional";
  limit: number;
}

/** A domain's candidate for a bundle. */
export interface BundleCandidate {
  item_id: string;
  title: string;
  /** Enough of its content to identify it; the bundle truncates long ones. */
  excerpt: string;
  /** 0..1 */
  score: number;
  /** The legs of search that found it, or that it is recent: see `nameLegs`. */
  source: string;
  /** The agent that wrote it; null for a person. */
  by: string | null;
  created_at: string;
  /** Further facts for judging it: `confidence 0.8`. */
  facts: string[];
}

export interface BundleLegAnswer {
  /** Best first. */
  items: BundleCandidate[];
  /** Why a leg of search did not answer; empty if all did. */
  degraded: string[];
}

/** Returns `vector`, `bm25` or `vector+bm25`. */
export function nameLegs({ vector, bm25 }: { vector?: number; bm25?: number }): string {
  const legs = [vector !== undefined && "vector", bm25 !== undefined && "bm25"];
  // Neighbours in a thread are found by neither leg.
  return legs.filter(Boolean).join("+") || "context";
}

/** Returns the bounds of `created_at` for search. */
export function searchBounds({ since, until }: BundleLeg): Pick<SearchWhere, "times"> {
  return { times: defined({ created_at: boundsOf(since, until) }) };
}

/** Returns the bounds of `created_at` as a filter. */
export function createdWithin({ since, until }: BundleLeg) {
  return defined({ created_at: rangeOf(since, until) });
}
