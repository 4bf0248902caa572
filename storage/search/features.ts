import type { MemoryScope } from "../../lib/access/visibility.ts";

/** Increases when the ranking weights of search change (services/remember/search/ranking.ts). */
export const WEIGHTS_VERSION = "3";

/** Bits for the terms of the query that are present: bit i for `ParsedQuery.terms[i]`. */
export type TermMask = number;

/** Limit of terms of a query: the bits of a mask without its sign. */
export const MAX_QUERY_TERMS = 31;

/** An entry of the same thread, near a candidate. */
export interface Neighbour {
  has: TermMask;
  title: TermMask;
  /** Cosine to the query, null without a vector. */
  cosine: number | null;
}

/** An index's data about an entry that a leg found, on which alone ranking depends. */
export interface Candidate extends Neighbour {
  id: string;
  /** Okapi BM25 of title and text, 0 without any term. Not normalised. */
  bm25: number;
  /** Terms in title and text. */
  length: number;
  /** See `signsOf` in lib/text/terms.ts. */
  signs: number;
  /** Earlier entries of its thread, nearest first; only those that the caller may find. */
  before: Neighbour[];
  after: Neighbour[];
  /** The terms of the entry right before it, if that is a question. */
  asked: TermMask;
  /** Milliseconds since 1970. */
  created_at: number;
  date: number | null;
  confidence: number;
  importance: number;
  cites: number;
  scope: MemoryScope;
  superseded: boolean;
}

/** Counts of the entries that the caller may find: scores reveal nothing about others' entries. */
export interface Corpus {
  documents: number;
  /** How many of them contain each term of the query. */
  frequencies: number[];
  averageLength: number;
}
