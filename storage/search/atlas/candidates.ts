import { Binary } from "mongodb";
import { SIGN_ASKS } from "../../../lib/text/terms.ts";
import {
  BM25,
  type Candidate,
  CONTEXT,
  type Corpus,
  type Neighbour,
  rarity,
  type TermMask,
  WITH_NEIGHBOURS,
} from "../features.ts";
import type { LegsQuery } from "../protocol.ts";
import { standsFor, type Variant } from "../related.ts";
import { quantise } from "../vector-memory.ts";
import { type Condition, fits } from "./conditions.ts";
import { type EntryDoc, NEVER } from "./entries.ts";

/** A row that a leg found, with its neighbours in its thread, nearest first. */
export interface FoundRow extends EntryDoc {
  before: EntryDoc[];
  after: EntryDoc[];
}

interface CandidatesQuery {
  query: Pick<LegsQuery, "terms" | "words" | "variants">;
  vector: Float32Array | null;
  /** The model whose vectors count. */
  model: string | null;
  conditions: readonly Condition[];
  corpus: Corpus;
}

/** Computes the ranking features of rows from their own words and vectors, the same as the local index does. */
export function rateCandidates(rows: readonly FoundRow[], query: CandidatesQuery): Candidate[] {
  const features = new Features(query);
  const candidates = new Map<string, Candidate>();
  for (const row of rows) candidates.set(row.id, features.candidate(row, row.before, row.after));
  for (const { before, after, ...row } of rows.slice(0, WITH_NEIGHBOURS)) {
    const [previous, ...earlier] = before;
    const [next, ...later] = after;
    const add = (each: EntryDoc | undefined, sides: [EntryDoc[], EntryDoc[]]) => {
      if (each && !candidates.has(each.id) && fits(each, query.conditions))
        candidates.set(each.id, features.candidate(each, ...sides));
    };
    add(previous, [earlier, [row, ...after].slice(0, CONTEXT)]);
    add(next, [[row, ...before].slice(0, CONTEXT), later]);
  }
  return [...candidates.values()];
}

function endOf({ valid_until, succeeded_at }: EntryDoc): number {
  const end = Math.min(valid_until, succeeded_at);
  return end >= NEVER ? Infinity : end;
}

/** Computes each row's features once, however many rows it is a neighbour of. */
class Features {
  readonly #asked: CandidatesQuery;
  /** The bits of words of entries. */
  readonly #masks: Map<string, TermMask>;
  /** Words of the query that no entry has. */
  readonly #missing: Variant[];
  readonly #idf: number[];
  readonly #seen = new Map<string, Neighbour & { bm25: number }>();

  constructor(query: CandidatesQuery) {
    this.#asked = query;
    const { terms, words, variants } = query.query;
    const own = terms.map((term, i): Variant => ({ term, mask: 1 << i }));
    this.#masks = new Map([...variants, ...own].map(({ term, mask }) => [term, mask]));
    this.#missing = own.filter((_, i) => i < words && query.corpus.frequencies[i] === 0);
    this.#idf = query.corpus.frequencies.map((frequency) => rarity(frequency, query.corpus.documents));
  }

  candidate(row: EntryDoc, before: readonly EntryDoc[], after: readonly EntryDoc[]): Candidate {
    const neighbour = (each: EntryDoc): Neighbour => {
      const { has, title, cosine } = this.#of(each);
      return { has, title, cosine };
    };
    const [previous] = before;
    const { id, length, signs, created_at, date, confidence, importance, cites, scope, superseded } = row;
    return {
      ...this.#of(row),
      ...{ id, length, signs, created_at, date, confidence, importance, cites, scope, superseded },
      holds: { from: row.valid_from, to: endOf(row) },
      before: before.map(neighbour),
      after: after.map(neighbour),
      asked: previous && previous.signs & SIGN_ASKS ? this.#of(previous).has : 0,
    };
  }

  #of(row: EntryDoc): Neighbour & { bm25: number } {
    const seen = this.#seen.get(row.id);
    if (seen) return seen;
    const counts = this.#asked.query.terms.map(() => 0);
    const title = this.#count(row.title_terms, counts);
    const has = title | this.#count(row.text_terms, counts);
    const made = { has, title, bm25: this.#bm25(counts, row.length), cosine: this.#cosine(row) };
    this.#seen.set(row.id, made);
    return made;
  }

  #count(words: string, counts: number[]): TermMask {
    let mask = 0;
    for (const word of words.split(" ")) {
      const bits = this.#maskOf(word);
      mask |= bits;
      for (let bit = 0; bits >>> bit > 0; bit++)
        if (bits & (1 << bit)) counts[bit] = (counts[bit] as number) + 1;
    }
    return mask;
  }

  #maskOf(word: string): TermMask {
    let mask = this.#masks.get(word);
    if (mask === undefined) {
      mask = this.#missing.reduce((all, { term, mask: bit }) => (standsFor(word, term) ? all | bit : all), 0);
      this.#masks.set(word, mask);
    }
    return mask;
  }

  #bm25(counts: readonly number[], length: number): number {
    const { k1, b } = BM25;
    const norm = k1 * (1 - b + (b * length) / this.#asked.corpus.averageLength);
    return counts.reduce(
      (sum, times, i) => (times ? sum + ((this.#idf[i] as number) * times * (k1 + 1)) / (times + norm) : sum),
      0,
    );
  }

  #cosine({ vector, embedded }: EntryDoc): number | null {
    const query = this.#asked.vector;
    if (!query || !vector || embedded !== this.#asked.model) return null;
    return cosine(query, integersOf(vector));
  }
}

/** Packs a vector into 8 bits per component, for Atlas. */
export function packVector(vector: Float32Array): Binary {
  return Binary.fromInt8Array(quantise(vector, vector.length).integers);
}

export function integersOf(vector: Binary): Int8Array {
  return vector.toInt8Array();
}

/** Returns -1..1; 0 if one of them has length zero. */
export function cosine(a: Float32Array | Int8Array, b: Int8Array): number {
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return product / (Math.sqrt(squaresA * squaresB) || 1);
}
