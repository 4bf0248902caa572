import type { Access, MemoryScope } from "../../lib/access/visibility.ts";

/** What search knows of: memories, chunks of documents, handoffs and outputs. */
export type SearchKind = "memory" | "chunk" | "handoff" | "output";

/**
 * What can be searched of a resource. Its domain says so by `search.put`, and again by its `search_entries`; an older
 * `version` never replaces a newer one. Times are milliseconds since 1970.
 */
export interface SearchEntry {
  kind: SearchKind;
  id: string;
  /** Raised by every change of the resource. */
  version: number;
  /** Forgotten, merged or otherwise out of search: nothing but kind, id and version counts. A later version may undo it. */
  removed?: boolean;
  title: string;
  text: string;
  scope: MemoryScope;
  /** The owner. A `team` entry is found by its owner and by its team. */
  agent_id: string | null;
  team_id: string | null;
  /** The memory's type, or what else the domain filters by. */
  type: string | null;
  project_id: string | null;
  /** Canonical. */
  tags: string[];
  /** 0..1 */
  confidence: number;
  /** 0..1 */
  importance: number;
  created_at: number;
  /** What the content is about or as of: freshness date or the like. */
  date: number | null;
  /** From then on it is not found. */
  expires_at: number | null;
  superseded: boolean;
  /** Citations of the last 30 days that rank. */
  cites: number;
  /**
   * Entries of one thread, owner, scope and team are each other's context, in order of `created_at`, then `id`: the
   * turns of a conversation. Source type and id, for one. Null: it stands alone, as the chunks of a document do, which
   * overlap.
   */
  thread: string | null;
  /** Labels such as `regions:emea`, for `where.audience`. */
  audience?: string[];
}

/** What narrows a search. Inside every leg, never after it. */
export interface SearchWhere {
  types?: string[];
  scope?: MemoryScope;
  /** Null: only what belongs to no project. */
  project_id?: string | null;
  /** At least one of them. */
  tags_any?: string[];
  /** The owner. */
  agent_id?: string;
  /** Of each group at least one label. */
  audience?: string[][];
  /** What is left out. */
  except?: { types?: string[]; project_ids?: string[] };
  /** The earliest `created_at`. */
  since?: number;
  /** What `created_at` must be before. */
  until?: number;
}

/** `search.put` (internal): fulfils when the text can be found. */
export interface SearchPut {
  tenant_id: string;
  entries: SearchEntry[];
}

/** `search.drop` (internal): hard erasure; nothing is left of them in any index, nor of their vectors. */
export interface SearchDrop {
  tenant_id: string;
  kind: SearchKind;
  ids: string[];
}

/** `search.find` (internal). */
export interface SearchFind {
  tenant_id: string;
  kind: SearchKind;
  query: string;
  access: Access;
  where?: SearchWhere;
  include_superseded?: boolean;
  limit: number;
  /** So many hits more, in place of those that the caller of the action finds to be no more. */
  spare?: number;
  /** 0..1; what scores less is not given. */
  min_score?: number;
  /** Gives the plan. */
  explain?: boolean;
  /** An id of which the plan says where it fell out, and why. */
  expect?: string;
}

/** An entry that fits. Whether it is still there, and the caller's to see, is for its domain to check. */
export interface SearchHit {
  id: string;
  /** 0..1 */
  score: number;
  /** What each leg that found it says of it, 0..1. */
  sources: { vector?: number; bm25?: number };
  superseded: boolean;
}

/** How an answer came about (api: Memories). */
export interface SearchPlan {
  legs: { name: string; candidates: number; ms: number }[];
  funnel: { stage: string; in: number; out: number }[];
  results: {
    id: string;
    vector: number | null;
    bm25: number | null;
    fused: number;
    confidence: number;
    recency: number;
    final: number;
  }[];
  expect?: { id: string; found: boolean; stage: string; reason: string };
}

/** What `search.find` answers, best first. */
export interface SearchFound {
  hits: SearchHit[];
  /** Visible entries that a leg brought. */
  total_candidates: number;
  /** `vector`, `bm25`: the legs that brought any of the hits. */
  sources_contributed: string[];
  /** Nothing clears the floor. */
  no_match: boolean;
  /** Why a leg did not answer; empty when both did. */
  degraded: string[];
  plan?: SearchPlan;
}

/** `<domain>.search_entries` (internal): pages over all rows, forgotten ones too, in order of change. */
export interface SearchEntriesPage {
  tenant_id?: string;
  after: { changed_at: number; id: string } | null;
  limit: number;
}

/** The next page begins after `last`; null when there was no row. `changed_at` in milliseconds. */
export interface SearchEntriesAnswer {
  entries: (SearchEntry & { tenant_id: string })[];
  last: { changed_at: number; id: string } | null;
}
