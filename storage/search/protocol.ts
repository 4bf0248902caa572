import type { Access } from "../../lib/access/visibility.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { SearchEntry, SearchKind, SearchWhere } from "./entry.ts";
import type { Candidate, Corpus } from "./features.ts";

/** Carries out a task of some units when it is the turn of whoever asks. */
export type InTurn = <T>(units: number, task: () => Promise<T>) => Promise<T>;

/** For what nobody else waits for. */
export const AT_ONCE: InTurn = (_, task) => task();

/** What the index is asked by both legs at once. */
export interface LegsQuery {
  tenant_id: string;
  kind: SearchKind;
  /** Distinct terms, at most `MAX_QUERY_TERMS`. */
  terms: string[];
  /** Null: the vector leg does not run. */
  vector: Float32Array | null;
  access: Access;
  where: SearchWhere;
  include_superseded: boolean;
  /** The store's time. */
  now: number;
  /** An id of which `expected` tells. */
  expect?: string;
}

/** Why an expected entry is no candidate; `candidate` when it is one. */
export type Expected =
  | "candidate"
  | "unknown"
  | "expired"
  | "superseded"
  | "filtered"
  | "outranked"
  | "unmatched";

/** What both legs bring to a query, to be ranked. Times in milliseconds. */
export interface LegsAnswer<Candidates = Candidate[]> {
  candidates: Candidates;
  corpus: Corpus;
  /** Entries that have one of the terms; entries with a vector. Of those visible. */
  matched: { text: number; vector: number };
  /** The query's vector is not as long as the entries' are: it was not compared. */
  isMisfit: boolean;
  /** Vectors cannot be searched yet: Atlas is still making their index. */
  isBuilding?: boolean;
  /** Not all that the tenant has is loaded: what is missing could not be found. */
  isPartial?: boolean;
  /** Candidates that each leg brought. */
  brought: { text: number; vector: number };
  ms: { text: number; vector: number };
  /** Entries of the tenant and kind; those of them that the caller may find here. */
  entries: number;
  visible: number;
  expected?: Expected;
}

/** An entry whose text has no vector of the current model. */
export interface Unembedded {
  tenant_id: string;
  kind: SearchKind;
  id: string;
  /** Of the text: what changes only in other fields keeps its vector. */
  hash: string;
  text: string;
}

/** Whose entries are meant. */
export interface OfTenant {
  tenant_id: string;
  kind: SearchKind;
}

/** A vector for an entry; it is dropped where the entry's text has another hash by now. */
export interface VectorRow {
  tenant_id: string;
  kind: SearchKind;
  id: string;
  hash: string;
  vector: Float32Array;
}

/** How many entries a tenant has of a kind. */
export interface Size {
  tenant_id: string;
  kind: SearchKind;
  entries: number;
}

/** Two entries of one owner, scope and type that say nearly the same. */
export interface NearDuplicate {
  tenant_id: string;
  kind: SearchKind;
  a: string;
  b: string;
  similarity: number;
}

export type SearchRequest =
  | { op: "put"; tenant_id: string; entries: SearchEntry[] }
  | { op: "drop"; tenant_id: string; kind: SearchKind; ids: string[] }
  | { op: "dropTenant"; tenant_id: string }
  | { op: "find"; query: LegsQuery; partial?: boolean }
  | { op: "load"; tenant_id: string; kind: SearchKind }
  | { op: "sizes" }
  | { op: "useModel"; model: string | null }
  | { op: "waiting" }
  | { op: "unembedded"; limit: number; skip: number; of?: OfTenant }
  | { op: "setVectors"; model: string; rows: VectorRow[] }
  | { op: "nearDuplicates"; tenant_id: string; kind: SearchKind; ids: string[]; least: number }
  | { op: "gap"; tenant_id?: string; kind?: SearchKind }
  | { op: "cursor"; name: string }
  | { op: "setCursor"; name: string; value: string }
  | { op: "rewrite"; mostBytes: number }
  | { op: "emptyLog" };

/** The cursor that says until when erasures have been heard of, in milliseconds since 1970. */
export const ERASURES_CURSOR = "erasures";
/** An index that has not heard of erasures for so long is made anew: their notes are not kept for ever. */
export const MOST_AWAY_MS = 30 * DAY_MS;
