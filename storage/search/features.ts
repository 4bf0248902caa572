import type { MemoryScope } from "../../lib/access/visibility.ts";

/** Raised whenever the weights change by which search puts what it finds in order (services/remember/search/ranking.ts). */
export const WEIGHTS_VERSION = "1";

/** Bits that say which terms of the query are there: bit i for `ParsedQuery.terms[i]`. */
export type TermMask = number;

/** At most so many terms of a query count: as many as a mask has bits without its sign. */
export const MAX_QUERY_TERMS = 31;

/** An entry of the same thread, near a candidate. */
export interface Neighbour {
  has: TermMask;
  title: TermMask;
  /** Cosine to the query, null without a vector. */
  cosine: number | null;
}

/** What an index knows of an entry that a leg brought; ranking sees nothing else. */
export interface Candidate extends Neighbour {
  id: string;
  /** Okapi BM25 of title and text, 0 when no term is in them. Not normalised. */
  bm25: number;
  /** Terms in title and text. */
  length: number;
  /** See `signsOf` in lib/text/terms.ts. */
  signs: number;
  /** Entries of its thread before it, nearest first; those only that the caller may find. */
  before: Neighbour[];
  after: Neighbour[];
  /** Milliseconds since 1970. */
  created_at: number;
  date: number | null;
  confidence: number;
  importance: number;
  cites: number;
  scope: MemoryScope;
  superseded: boolean;
}

/** What the caller may find, counted: nothing of what others own shows in a score. */
export interface Corpus {
  documents: number;
  /** Of each term of the query, how many of them have it. */
  frequencies: number[];
  averageLength: number;
}
