import type { MemoryScope } from "../../lib/access/visibility.ts";
import type { Span } from "./entry.ts";

/** Increases when the ranking weights of search change (services/remember/search/ranking.ts). */
export const WEIGHTS_VERSION = "4";

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
  /** When it holds. */
  holds: Span;
}

/** Counts of the entries that the caller may find: scores reveal nothing about others' entries. */
export interface Corpus {
  documents: number;
  /** How many of them contain each term of the query. */
  frequencies: number[];
  averageLength: number;
}

// Limits shared by the local index and Atlas, so that both find the same.

/** Candidates per leg. */
export const LEG_SIZE = 60;
/** This many of the best of each leg also bring their neighbours. */
export const WITH_NEIGHBOURS = 40;
/** Neighbours of a candidate, to each side. */
export const CONTEXT = 4;
/** Near-duplicates reported per entry: of many similar entries each has its nearest. */
export const MOST_DUPLICATES = 3;

/** Okapi BM25's usual parameters: how soon a term's repetition saturates, and how much a text's length counts. */
export const BM25 = { k1: 1.2, b: 0.75 } as const;

/** A store with few entries cannot tell which terms are rare, so this many are added. */
const UNSEEN_ENTRIES = 100;

/** Returns the weight of a term that `frequency` of the entries contain: inverse document frequency, above 0. */
export function rarity(frequency: number, documents: number): number {
  const seen = frequency + 1;
  return Math.log(1 + (documents + UNSEEN_ENTRIES - seen + 0.5) / (seen + 0.5));
}
