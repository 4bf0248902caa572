import { hash } from "node:crypto";
import type { Access, MemoryScope } from "../../lib/access/visibility.ts";
import type { MetadataCondition } from "../../lib/filter/metadata.ts";
import { withoutDataUris } from "../../lib/text/data-uris.ts";
import { entryTerms } from "../../lib/text/exact-terms.ts";
import { findSigns, withoutInvisible } from "../../lib/text/terms.ts";

/** Searchable resources: memories, chunks of documents, handoffs and outputs. */
export const KINDS = ["memory", "chunk", "handoff", "output"] as const;
export type SearchKind = (typeof KINDS)[number];

/** When an entry holds, as its domain knows it. Milliseconds since 1970; null: no end. */
export interface Validity {
  from: number;
  /** Exclusive, as somebody said. */
  until: number | null;
  /** The beginning of its successor's, if nobody said when it ends, and when that was recorded. */
  succeeded: number | null;
  replaced: number | null;
}

/** A time at which entries hold, as far as was known at another. */
export interface HeldAt {
  at: number;
  known: number;
  /** Ids of entries whose times were corrected since, by whether they held as was known then. */
  corrected?: { held: string[]; not: string[] };
}

/** A span of time in milliseconds since 1970; `to` is exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** Returns when an entry holds, as is known now; without an end, `to` is Infinity. */
export function spanOf({ from, until, succeeded }: Validity): Span {
  return { from, to: until ?? succeeded ?? Infinity };
}

export function overlaps(one: Span, other: Span): boolean {
  return one.from < other.to && one.to > other.from;
}

/** Whether an entry held at a time, as far as was known at another. */
export function held(
  { from, until, succeeded, replaced }: Validity,
  created_at: number,
  { at, known }: HeldAt,
) {
  if (from > at || created_at > known || (until ?? Infinity) <= at) return false;
  return until !== null || (succeeded ?? Infinity) > at || (replaced ?? Infinity) > known;
}

/** The times of an entry that searches filter by, in milliseconds since 1970. */
export const TIMES = ["created_at", "updated_at", "date"] as const;
type EntryTime = (typeof TIMES)[number];

/** The tenant and kind of entries. */
export interface OfKind {
  tenant_id: string;
  kind: SearchKind;
}

/** Increases with what entries hold and with the tables of file.ts: the local index is filled again, Atlas gets new indexes. */
export const ENTRY_VERSION = 6;

/**
 * The searchable form of a resource. Its domain sends it by `search.put`, and again by its `search_entries`; an older
 * `version` never replaces a newer one. Times are milliseconds since 1970.
 */
export interface SearchEntry extends Partial<Record<EntryTime, number | null>> {
  kind: SearchKind;
  id: string;
  /** Increases with every change of the resource. */
  version: number;
  /**
   * Forgotten, merged or otherwise removed from search: only kind, id and version count. A later version may restore
   * it.
   */
  removed?: boolean;
  title: string;
  text: string;
  scope: MemoryScope;
  /** The owner. A `team` entry is found by its owner and by its team. */
  agent_id: string | null;
  team_id: string | null;
  /** The memory's type, or another value that the domain filters by. */
  type: string | null;
  project_id: string | null;
  /** Canonical. */
  tags: string[];
  /** 0..1 */
  confidence: number;
  /** 0..1 */
  importance: number;
  created_at: number;
  /** Default: `created_at`. */
  updated_at?: number;
  /** The date of the content, such as its freshness date. */
  date: number | null;
  /** When it stops being found. */
  expires_at: number | null;
  superseded: boolean;
  /** Default: from `created_at`, without an end. */
  validity?: Validity;
  /** Citations of the last 30 days that count for ranking. */
  cites: number;
  /**
   * Entries of one thread, owner, scope and team are each other's context, in order of `created_at`, then `id`, like
   * the turns of a conversation. For example, source type and id. Null for single entries, such as the overlapping
   * chunks of a document.
   */
  thread: string | null;
  /** Labels such as `regions:emea`, for `where.audience`. */
  audience?: string[];
  /** The result of `packMetadata`. */
  metadata?: string;
}

/** Bounds of a time; `until` is exclusive. */
export interface TimeBounds {
  since?: number;
  until?: number;
}

/** Filters of a search, applied inside every leg, never afterwards. */
export interface SearchWhere {
  types?: string[];
  scope?: MemoryScope;
  /** Null: only entries without a project. */
  project_id?: string | null;
  /** At least one of them. */
  tags_any?: string[];
  agent_id?: string;
  /** At least one label of each group. */
  audience?: string[][];
  except?: { types?: string[]; project_ids?: string[] };
  /** Entries without a time that has bounds do not match. */
  times?: Partial<Record<EntryTime, TimeBounds>>;
  /** All of them. */
  metadata?: MetadataCondition[];
  /** Only what held then, whatever superseded it since. */
  held?: HeldAt;
  /** Also what is superseded and held in this span. */
  past?: Span;
}

/** `search.put` (internal): resolves when the text can be found. */
export interface SearchPut {
  tenant_id: string;
  entries: SearchEntry[];
}

/** The event `search.missed`: changes of a tenant's entries did not get into the index. */
export type SearchMissed = OfKind;

/** `search.drop` (internal): erases entries and their vectors from every index. */
export interface SearchDrop extends OfKind {
  ids: string[];
}

/** `search.find` (internal). */
export interface SearchFind extends OfKind {
  query: string;
  access: Access;
  where?: SearchWhere;
  include_superseded?: boolean;
  /** False: the query is no question, and a time in it asks for nothing. */
  past?: boolean;
  limit: number;
  /** Additional hits, to replace those that the caller of the action filters out. */
  spare?: number;
  /** 0..1; hits with lower scores are omitted. */
  min_score?: number;
  /** False: do not wait for the reranker. */
  rerank?: boolean;
  /** Include the plan. */
  explain?: boolean;
  /** An id; the plan explains where and why it was excluded. */
  expect?: string;
}

/** A matching entry. Its domain checks that it still exists and that the caller may see it. */
export interface SearchHit {
  id: string;
  /** 0..1 */
  score: number;
  /** The score of each leg that found it, 0..1. */
  sources: { vector?: number; bm25?: number };
  superseded: boolean;
  /** The name that it shares with a better result, if only that leads to it. */
  through?: string;
}

/** How an answer was computed (api: Memories). */
export interface SearchPlan {
  legs: { name: string; candidates: number; ms: number }[];
  funnel: { stage: string; in: number; out: number }[];
  results: {
    id: string;
    vector: number | null;
    bm25: number | null;
    fused: number;
    relevance?: number;
    confidence: number;
    recency: number;
    final: number;
    /** As of a hit. */
    through?: string;
  }[];
  expect?: { id: string; found: boolean; stage: string; reason: string };
}

/** The answer of `search.find`, best first. */
export interface SearchFound {
  hits: SearchHit[];
  /** Visible entries found by a leg. */
  total_candidates: number;
  /** `vector`, `bm25`: the legs that found any of the hits. */
  sources_contributed: string[];
  /** No hit reaches the floor. */
  no_match: boolean;
  /** The best hit lacks words of the query: what leads on from it may have the rest. */
  isPart: boolean;
  /** Why a leg did not answer; empty if both did. */
  degraded: string[];
  plan?: SearchPlan;
}

/** `<domain>.search_entries` (internal): pages over all rows, forgotten ones included, in order of change. */
export interface SearchEntriesPage {
  tenant_id?: string;
  after: { changed_at: number; id: string } | null;
  limit: number;
}

/** The next page starts after `last`; null if there was no row. `changed_at` in milliseconds. */
export interface SearchEntriesAnswer {
  entries: (SearchEntry & { tenant_id: string })[];
  /** Rows that have no entry, each with the reason. */
  unreadable?: string[];
  last: { changed_at: number; id: string } | null;
}

/** Fills in what an entry does not say. */
export function wholeEntry(entry: SearchEntry) {
  const { created_at, updated_at = created_at } = entry;
  const times = Object.fromEntries(TIMES.map((name) => [name, entry[name] ?? null])) as Record<
    EntryTime,
    number | null
  >;
  const validity: Validity = { from: created_at, until: null, succeeded: null, replaced: null };
  return { audience: [], metadata: "", validity, ...entry, ...times, created_at, updated_at };
}

/** Returns entries as they are searched: without embedded files, which have no words. */
export function searchable(entries: readonly SearchEntry[]): SearchEntry[] {
  return entries.map((entry) => {
    const text = withoutDataUris(entry.text);
    return text === entry.text ? entry : { ...entry, text };
  });
}

/** Terms and features of an entry's text, for any index; vectors are kept by the hash of the text. */
interface Reading {
  title_terms: string[];
  text_terms: string[];
  /** Terms in title and text, without the exact ones. */
  length: number;
  /** See `findSigns` in lib/text/terms.ts; of the text alone. */
  signs: number;
  /** Title and text: the input of the vector. */
  text: string;
  hash: string;
}

/** A title of this length that repeats how the text begins was cut from it, and says nothing more. */
const CUT = 40;

export function readEntry(entry: Pick<SearchEntry, "title" | "text">): Reading {
  const isRepeated =
    entry.text.startsWith(entry.title) && (entry.title.length >= CUT || entry.text === entry.title);
  const { title, text } = entryTerms(isRepeated ? { title: "", text: entry.text } : entry);
  const whole = withoutInvisible(entry.title && !isRepeated ? `${entry.title}\n${entry.text}` : entry.text);
  return {
    title_terms: [...title.terms, ...title.exact],
    text_terms: [...text.terms, ...text.exact],
    length: title.terms.length + text.terms.length,
    ...{ signs: findSigns(entry.text), text: whole, hash: hash("sha1", whole, "base64url") },
  };
}
