/**
 * What a bundle asks of each domain that may have something for it: `<domain>.for_bundle` (internal), for the caller
 * in `ctx.meta`. Times are ISO 8601.
 */
export interface BundleLeg {
  /** Null: what is latest, in place of what fits. */
  query: string | null;
  /** A project's key: only what is filed under it. Domains that file under none take no heed of it. */
  project_id?: string;
  /** The earliest `created_at`. */
  since?: string;
  /** What `created_at` must be before. */
  until?: string;
  /** Of memories. */
  scope?: "agent" | "team" | "institutional";
  limit: number;
}

/** One thing that a domain has for a bundle. */
export interface BundleCandidate {
  item_id: string;
  title: string;
  /** As much of its content as tells what it is; the bundle cuts it where it is too long. */
  excerpt: string;
  /** 0..1 */
  score: number;
  /** Which legs of search found it, or that it is recent: see `sourceOf`. */
  source: string;
  /** The agent that wrote it; null for a person. */
  by: string | null;
  created_at: string;
  /** What else a reader weighs it by: `confidence 0.8`. */
  facts: string[];
}

/** What `<domain>.for_bundle` answers. */
export interface BundleLegAnswer {
  /** Best first. */
  items: BundleCandidate[];
  /** Why a leg of search did not answer; empty when all did. */
  degraded: string[];
}

/** `vector`, `bm25` or `vector+bm25`. */
export function sourceOf({ vector, bm25 }: { vector?: number; bm25?: number }): string {
  const legs = [vector !== undefined && "vector", bm25 !== undefined && "bm25"];
  // Neighbours in a thread are found without a leg of their own.
  return legs.filter(Boolean).join("+") || "context";
}
