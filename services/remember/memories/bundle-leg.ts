import type { TimeBounds } from "../../../storage/search/entry.ts";

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
export function searchBounds({ since, until }: BundleLeg): { times: { created_at: TimeBounds } } {
  const bounds = { ...(since && { since: Date.parse(since) }), ...(until && { until: Date.parse(until) }) };
  return { times: { created_at: bounds } };
}

/** Returns the bounds of `created_at` as a filter. */
export function createdWithin({ since, until }: BundleLeg): { created_at?: { $gte?: Date; $lt?: Date } } {
  const created_at = { ...(since && { $gte: new Date(since) }), ...(until && { $lt: new Date(until) }) };
  return since || until ? { created_at } : {};
}
