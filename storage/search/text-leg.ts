import { grown, Highest } from "./columns.ts";
import type { EntryTable, View } from "./entry-table.ts";
import { BM25, rarity, type TermMask } from "./features.ts";
import { countOf, isInTitle, type Postings, rowOf } from "./postings.ts";
import type { LegsQuery } from "./protocol.ts";
import { isPrefix, listForms } from "./related.ts";
import type { ThreadOrder } from "./thread-order.ts";

/** Turns of a thread that count as near, to each side. */
const NEAR = 2;
/** Weight of a term in a neighbour when choosing candidates, relative to one in the entry. */
const NEAR_WEIGHT = 0.5;

/** The rarity of a term in about one in eight entries. */
const TELLING = 2;

/** The text leg's data about all rows. Valid until its next search. */
export interface TextMatches {
  has: Int32Array;
  title: Int32Array;
  bm25: Float32Array;
  frequencies: number[];
  /** Visible rows with one of the terms. */
  matched: number;
  best: number[];
}

type WordsQuery = Pick<LegsQuery, "terms" | "words" | "variants">;

interface Searched extends View {
  table: EntryTable;
  postings: Postings;
}

interface Scope extends Searched {
  /** Terms whose frequency has been counted. */
  frequencies: Map<string, number>;
}

/** Finds rows that contain the terms, or are near such rows. */
export class TextLeg {
  // By row, reused between searches: allocating it would cost more than most searches.
  #has = new Int32Array(0);
  #title = new Int32Array(0);
  #bm25 = new Float32Array(0);
  #isBeside = new Uint8Array(0);
  /** The first `#count` are the rows with a term. */
  #touched = new Int32Array(0);
  #count = 0;
  /** Neighbouring rows that were examined. */
  readonly #beside: number[] = [];

  /** @param size how many of the best to return */
  match({ terms, words, variants }: WordsQuery, searched: Searched, size: number): TextMatches {
    const scope: Scope = { ...searched, frequencies: new Map() };
    this.#begin(scope.table.size);
    const forms = terms.map((term, i) => (i < words ? formsIn(term, scope) : [term]));
    const frequencies = terms.map((term) => countDocuments(term, scope));
    const idf = frequencies.map((frequency) => rarity(frequency, scope.documents));
    for (const [i, each] of forms.entries())
      for (const form of each) this.#note(1 << i, idf[i] as number, form, scope);
    const noted = new Set(forms.flat());
    for (const { term, mask } of variants)
      if (!noted.has(term)) this.#note(mask, summing(idf)(mask), term, scope);
    const chosen = this.#choose(idf, scope, size);
    return { has: this.#has, title: this.#title, bm25: this.#bm25, frequencies, ...chosen };
  }

  /** Clears the last search and allocates for this one. */
  #begin(rows: number): void {
    for (let i = 0; i < this.#count; i++) {
      const row = this.#touched[i] as number;
      this.#has[row] = this.#title[row] = this.#bm25[row] = 0;
    }
    this.#count = 0;
    for (const row of this.#beside) this.#isBeside[row] = 0;
    this.#beside.length = 0;
    this.#has = grown(this.#has, rows);
    this.#title = grown(this.#title, rows);
    this.#bm25 = grown(this.#bm25, rows);
    this.#isBeside = grown(this.#isBeside, rows);
    this.#touched = grown(this.#touched, rows);
  }

  #note(bit: TermMask, idf: number, term: string, scope: Scope): void {
    const [has, title, bm25, touched] = [this.#has, this.#title, this.#bm25, this.#touched];
    const { lengths } = scope.table;
    const { k1, b } = BM25;
    const perLength = (k1 * b) / scope.averageLength;
    let count = this.#count;
    for (const posting of scope.postings.of(term)) {
      const row = rowOf(posting);
      const times = countOf(posting);
      if (has[row] === 0) touched[count++] = row;
      has[row] = (has[row] as number) | bit;
      if (isInTitle(posting)) title[row] = (title[row] as number) | bit;
      const norm = k1 * (1 - b) + perLength * (lengths[row] as number);
      bm25[row] = (bm25[row] as number) + (idf * times * (k1 + 1)) / (times + norm);
    }
    this.#count = count;
  }

  /**
   * Chooses the best rows by their own terms and nearby ones. Examines neighbours only where they could change the
   * result: `least` is the minimum own weight of the last of the best.
   */
  #choose(idf: readonly number[], scope: Scope, size: number): Pick<TextMatches, "best" | "matched"> {
    const { visible } = scope;
    const { threads } = scope.table;
    const { least, matched } = this.#ownBest(visible, size);
    const sum = summing(idf);
    const telling = tellingTerms(idf);
    const nearWeight = (mask: TermMask) => NEAR_WEIGHT * sum(mask & telling);
    const most = nearWeight(-1);
    const highest = new Highest(size);
    for (let i = 0; i < this.#count; i++) {
      const row = this.#touched[i] as number;
      const mask = this.#has[row] as number;
      const own = this.#bm25[row] as number;
      const weight = nearWeight(mask);
      if (visible[row] && own + most - weight >= least)
        highest.offer(row, own + nearWeight(this.#near(row, threads) & ~mask));
      // A row without terms needs this much from one of its neighbours.
      if (weight > 0 && weight * 2 * NEAR >= least)
        for (const beside of this.#newBeside(row, scope))
          highest.offer(beside, nearWeight(this.#near(beside, threads)));
    }
    return { best: highest.items(), matched };
  }

  #ownBest(visible: Uint8Array, size: number): { least: number; matched: number } {
    const own = new Highest(size);
    let matched = 0;
    for (let i = 0; i < this.#count; i++) {
      const row = this.#touched[i] as number;
      if (!visible[row]) continue;
      matched++;
      own.offer(row, this.#bm25[row] as number);
    }
    return { least: own.least, matched };
  }

  /** Returns visible neighbours of a row that have no term, each once. */
  #newBeside(row: number, { table: { threads }, visible }: Scope): number[] {
    const from = this.#beside.length;
    const look = (at: number) => {
      if (this.#has[at] !== 0 || this.#isBeside[at] === 1 || !visible[at]) return;
      this.#isBeside[at] = 1;
      this.#beside.push(at);
    };
    for (let n = 0, at = threads.before(row); n < NEAR && at >= 0; n++, at = threads.before(at)) look(at);
    for (let n = 0, at = threads.after(row); n < NEAR && at >= 0; n++, at = threads.after(at)) look(at);
    return this.#beside.slice(from);
  }

  /** Returns the terms of a row's neighbours. */
  #near(row: number, threads: ThreadOrder): TermMask {
    let mask = 0;
    for (let n = 0, at = threads.before(row); n < NEAR && at >= 0; n++, at = threads.before(at))
      mask |= this.#has[at] as number;
    for (let n = 0, at = threads.after(row); n < NEAR && at >= 0; n++, at = threads.after(at))
      mask |= this.#has[at] as number;
    return mask;
  }
}

/** Returns the term, or the forms that stand for it if the reader finds it nowhere: words that it begins, else others. */
function formsIn(term: string, scope: Scope): string[] {
  if (countDocuments(term, scope) > 0) return [term];
  const isFound = (form: string) => countDocuments(form, scope) > 0;
  const longer = isPrefix(term) ? scope.postings.beginningWith(term).filter(isFound) : [];
  if (longer.length > 0) return longer;
  const other = listForms(term).find(isFound);
  return [other ?? term];
}

/** Counts the visible rows with a term, once. */
function countDocuments(term: string, { postings, visible, frequencies }: Scope): number {
  const known = frequencies.get(term);
  if (known !== undefined) return known;
  let frequency = 0;
  for (const posting of postings.of(term)) frequency += visible[rowOf(posting)] as number;
  frequencies.set(term, frequency);
  return frequency;
}

/** Returns the terms that are not almost everywhere, or all if all are: only these justify examining neighbours. */
function tellingTerms(idf: readonly number[]): TermMask {
  const mask = idf.reduce((all, weight, i) => (weight >= TELLING ? all | (1 << i) : all), 0);
  return mask || -1;
}

/** Returns a function that sums the weights of a mask's terms, eight bits at a time. */
function summing(weights: readonly number[]): (mask: TermMask) => number {
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
