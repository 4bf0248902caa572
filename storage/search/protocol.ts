import type { Access } from "../../lib/access/visibility.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { OfKind, SearchWhere } from "./entry.ts";
import type { Candidate, Corpus } from "./features.ts";
import type { Variant } from "./related.ts";

/** Runs a task of some units when it is the caller's turn. */
export type TaskRunner = <T>(units: number, task: () => Promise<T>) => Promise<T>;

/** For work that nobody else waits for. */
export const RUN_AT_ONCE: TaskRunner = (_, task) => task();

/** A query for both legs at once. */
export interface LegsQuery extends OfKind {
  /** Distinct terms, at most `MAX_QUERY_TERMS`. */
  terms: string[];
  /** How many of the terms are words, which other forms may stand for; the others count as they are. */
  words: number;
  variants: Variant[];
  /** Null: the vector leg does not run. */
  vector: Float32Array | null;
  access: Access;
  where: SearchWhere;
  include_superseded: boolean;
  /** The store's time. */
  now: number;
  /** An id to explain in `expected`. */
  expect?: string;
}

/** Why an expected entry is no candidate; `candidate` if it is one. */
export type Expected =
  | "candidate"
  | "unknown"
  | "expired"
  | "superseded"
  | "filtered"
  | "outranked"
  | "unmatched";

/** The candidates of both legs for ranking. Times in milliseconds. */
export interface LegsAnswer {
  candidates: Candidate[];
  corpus: Corpus;
  /** Visible entries with one of the terms, and visible entries with a vector. */
  matched: { text: number; vector: number };
  /** The query's vector differs in length from the entries' and was not compared. */
  isMisfit: boolean;
  /** Vectors cannot be searched yet: Atlas is still building their index. */
  isBuilding?: boolean;
  /** The tenant is not loaded completely, so entries may be missing. */
  isPartial?: boolean;
  /** Number of candidates of each leg. */
  brought: { text: number; vector: number };
  ms: { text: number; vector: number };
  /** Entries of the tenant and kind that the caller may find here. */
  visible: number;
  expected?: Expected;
}

/** An entry whose text has no vector of the current model. */
export interface Unembedded extends OfKind {
  id: string;
  /** Of the text: a change of other fields keeps the vector. */
  hash: string;
  text: string;
}

/** A vector for an entry, ignored if the entry's text has another hash by now. */
export interface VectorRow extends Omit<Unembedded, "text"> {
  vector: Float32Array;
}

/** The number of a tenant's entries of a kind. */
export interface Size extends OfKind {
  entries: number;
}

/** Two entries of one owner, scope and type with nearly the same content. */
export interface NearDuplicate extends OfKind {
  a: string;
  b: string;
  similarity: number;
}

/** The cursor for erasures: the time up to which they are applied, in milliseconds since 1970. */
export const ERASURES_CURSOR = "erasures";
/** The collection of notes about erasures, which indexes apply when they return. */
export const ERASURES = "search_erasures";
/** Owner of rows without a tenant, such as notes about erased tenants, which must outlive these. */
export const NO_TENANT = "none";
/** An index that has missed erasures for longer is rebuilt: their records are not kept forever. */
export const MOST_AWAY_MS = 30 * DAY_MS;

/** Returns the note that a tenant was erased, for nodes that are away. */
export function tenantErasure(tenant_id: string, at: Date) {
  return { _id: `tenant ${tenant_id}`, tenant_id: NO_TENANT, kind: null, ids: [tenant_id], at };
}
