import { BM25, rarity } from "../../lib/rarity.ts";
import type { TermMask } from "../../lib/search-features.ts";
import { Highest } from "./columns.ts";
import type { EntryTable } from "./entry-table.ts";
import { countOf, isInTitle, type Postings, rowOf } from "./postings.ts";
import type { View } from "./views.ts";

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

interface Scope extends View {
  table: EntryTable;
  postings: Postings;
}

/** What is noted of rows while the terms are gone through. */
interface Notes extends Pick<TextMatches, "has" | "title" | "bm25"> {
  /** The first `count` are rows that have a term. */
  touched: Int32Array;
  count: number;
}

/** Finds the rows that have the terms, or are near those that do. @param size how many of the best are wanted */
export function matchText(terms: readonly string[], scope: Scope, size: number): TextMatches {
  const rows = scope.table.size;
  const frequencies = terms.map((term) => frequencyOf(term, scope));
  const idf = frequencies.map((frequency) => rarity(frequency, scope.documents));
  const notes: Notes = {
    has: new Int32Array(rows),
    title: new Int32Array(rows),
    bm25: new Float32Array(rows),
    touched: new Int32Array(rows),
    count: 0,
  };
  for (const [i, term] of terms.entries()) note(notes, 1 << i, idf[i] as number, term, scope);
  return { ...notes, frequencies, ...choose(notes, idf, scope, size) };
}

/** How many of the visible rows have a term; remembered as long as the view is. */
function frequencyOf(term: string, { postings, visible, frequencies }: Scope): number {
  const known = frequencies.get(term);
  if (known !== undefined) return known;
  let frequency = 0;
  for (const posting of postings.of(term)) frequency += visible[rowOf(posting)] as number;
  frequencies.set(term, frequency);
  return frequency;
}

function note(notes: Notes, bit: TermMask, idf: number, term: string, scope: Scope): void {
  const { has, title, bm25, touched } = notes;
  const { lengths } = scope.table;
  const { k1, b } = BM25;
  const perLength = (k1 * b) / scope.averageLength;
  for (const posting of scope.postings.of(term)) {
    const row = rowOf(posting);
    const count = countOf(posting);
    if (has[row] === 0) touched[notes.count++] = row;
    has[row] = (has[row] as number) | bit;
    if (isInTitle(posting)) title[row] = (title[row] as number) | bit;
    const norm = k1 * (1 - b) + perLength * (lengths[row] as number);
    bm25[row] = (bm25[row] as number) + (idf * count * (k1 + 1)) / (count + norm);
  }
}

/** The best by their own terms and those near them. */
function choose(
  { has, bm25, touched, count }: Notes,
  idf: readonly number[],
  { table: { threads }, visible }: Scope,
  size: number,
): Pick<TextMatches, "best" | "matched"> {
  const near = new Int32Array(has.length);
  const beside: number[] = [];
  const tell = (row: number, mask: TermMask) => {
    if (near[row] === 0 && has[row] === 0) beside.push(row);
    near[row] = (near[row] as number) | mask;
  };
  const telling = tellingTerms(idf);
  for (let i = 0; i < count; i++) {
    const row = touched[i] as number;
    const mask = (has[row] as number) & telling;
    if (mask === 0) continue;
    for (let n = 0, at = threads.before(row); n < NEAR && at >= 0; n++, at = threads.before(at))
      tell(at, mask);
    for (let n = 0, at = threads.after(row); n < NEAR && at >= 0; n++, at = threads.after(at)) tell(at, mask);
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
  for (let i = 0; i < count; i++) offer(touched[i] as number);
  for (const row of beside) offer(row);
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
