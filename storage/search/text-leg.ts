import { BM25, rarity } from "../../lib/rarity.ts";
import type { TermMask } from "../../lib/search-features.ts";
import { Highest } from "./columns.ts";
import type { EntryTable } from "./entry-table.ts";
import { countOf, isInTitle, type Postings, rowOf } from "./postings.ts";

/** How many turns of a thread count as near, to each side. */
const NEAR = 2;
/** What a term beside an entry counts for choosing candidates, against one in it. */
const NEAR_WEIGHT = 0.5;

/** The rarity of a term that about one in eight entries has. */
const TELLING = 2;

/** What the text leg knows of all rows. */
export interface TextMatches {
  has: Int32Array;
  title: Int32Array;
  bm25: Float32Array;
  frequencies: number[];
  /** Visible rows that have one of the terms or are near one that has. */
  matched: number;
  best: number[];
}

interface Scope {
  table: EntryTable;
  postings: Postings;
  visible: Uint8Array;
  documents: number;
  averageLength: number;
}

/** Finds the rows that have the terms, or are near those that do. @param size how many of the best are wanted */
export function matchText(terms: readonly string[], scope: Scope, size: number): TextMatches {
  const { table, postings, visible } = scope;
  const has = new Int32Array(table.size);
  const title = new Int32Array(table.size);
  const bm25 = new Float32Array(table.size);
  const touched: number[] = [];
  const frequencies = terms.map((term, i) => {
    let frequency = 0;
    for (const posting of postings.of(term)) {
      const row = rowOf(posting);
      if (has[row] === 0) touched.push(row);
      has[row] = (has[row] as number) | (1 << i);
      if (isInTitle(posting)) title[row] = (title[row] as number) | (1 << i);
      if (visible[row]) frequency++;
    }
    return frequency;
  });
  const idf = frequencies.map((frequency) => rarity(frequency, scope.documents));
  for (const [i, term] of terms.entries()) addScores(bm25, postings.of(term), idf[i] as number, scope);
  const { best, matched } = choose(touched, has, bm25, idf, scope, size);
  return { has, title, bm25, frequencies, matched, best };
}

function addScores(
  bm25: Float32Array,
  list: readonly number[],
  idf: number,
  { table: { lengths }, averageLength }: Scope,
): void {
  const { k1, b } = BM25;
  for (const posting of list) {
    const row = rowOf(posting);
    const count = countOf(posting);
    const norm = k1 * (1 - b + (b * (lengths[row] as number)) / averageLength);
    bm25[row] = (bm25[row] as number) + (idf * count * (k1 + 1)) / (count + norm);
  }
}

/** The best by their own terms and those near them. */
function choose(
  touched: readonly number[],
  has: Int32Array,
  bm25: Float32Array,
  idf: readonly number[],
  { table: { threads }, visible }: Scope,
  size: number,
): { best: number[]; matched: number } {
  const near = new Int32Array(has.length);
  const beside: number[] = [];
  const note = (row: number, mask: TermMask) => {
    if (near[row] === 0 && has[row] === 0) beside.push(row);
    near[row] = (near[row] as number) | mask;
  };
  const telling = tellingTerms(idf);
  for (const row of touched) {
    const mask = (has[row] as number) & telling;
    if (mask === 0) continue;
    for (let n = 0, at = threads.before(row); n < NEAR && at >= 0; n++, at = threads.before(at))
      note(at, mask);
    for (let n = 0, at = threads.after(row); n < NEAR && at >= 0; n++, at = threads.after(at)) note(at, mask);
  }
  const highest = new Highest(size);
  const sum = sumOf(idf);
  let matched = 0;
  const offer = (row: number) => {
    if (!visible[row]) return;
    matched++;
    const only = (near[row] as number) & ~(has[row] as number);
    highest.offer(row, (bm25[row] as number) + (only === 0 ? 0 : NEAR_WEIGHT * sum(only)));
  };
  touched.forEach(offer);
  beside.forEach(offer);
  return { best: highest.items(), matched };
}

/** The terms that are not nearly everywhere, or all when all are: only for these is it worth looking beside. */
function tellingTerms(idf: readonly number[]): TermMask {
  const mask = idf.reduce((all, weight, i) => (weight >= TELLING ? all | (1 << i) : all), 0);
  return mask || -1;
}

/** Sums what a mask's terms weigh, eight bits at a time. */
function sumOf(weights: readonly number[]): (mask: TermMask) => number {
  const sums = new Float32Array(4 * 256);
  for (let entry = 0; entry < sums.length; entry++) {
    const byte = entry & 255;
    if (byte === 0) continue;
    const bit = 31 - Math.clz32(byte);
    sums[entry] = (sums[entry ^ (1 << bit)] as number) + (weights[(entry >> 8) * 8 + bit] ?? 0);
  }
  return (mask) =>
    (sums[mask & 255] as number) +
    (sums[256 + ((mask >>> 8) & 255)] as number) +
    (sums[512 + ((mask >>> 16) & 255)] as number) +
    (sums[768 + (mask >>> 24)] as number);
}
