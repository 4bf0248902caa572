import { randomBytes } from "node:crypto";
import { grown } from "./columns.ts";

/** A term's count in an entry, up to 63, plus 64 if it is in the title. */
const IN_TITLE = 64;
const COUNT = 63;
const END = 0;
/** Bytes by which terms with the same beginning are found. */
const BEGINNING = 3;
/** Of a beginning that many words have, so many count. */
const MOST_FORMS = 16;

/**
 * The seed of the hash, different in each process: otherwise an attacker could choose words that collide, and are then
 * found for each other.
 */
const SEED = randomBytes(8);
const HIGH = SEED.readInt32LE(0);
const LOW = SEED.readInt32LE(4);

/** The distinct terms of an entry: for each its weight as one byte, the term in UTF-8, and a zero. */
export type PackedTerms = Uint8Array;

export function packTerms(title: readonly string[], text: readonly string[]): PackedTerms {
  const counted = new Map<string, number>();
  for (const term of title) counted.set(term, Math.min((counted.get(term) ?? 0) + 1, COUNT));
  for (const [term, count] of counted) counted.set(term, count | IN_TITLE);
  for (const term of text) {
    const weight = counted.get(term) ?? 0;
    if ((weight & COUNT) < COUNT) counted.set(term, weight + 1);
  }
  let packed = "";
  for (const [term, weight] of counted) packed += `${String.fromCharCode(weight)}${term}\0`;
  return Buffer.from(packed);
}

/**
 * The rows of each term. A posting is `row * 256 + weight`: small integers, which arrays hold unboxed. A term is
 * identified by a 53-bit hash of its bytes, so that the millions of terms of a load need not become strings.
 */
export class Postings {
  readonly #lists = new Map<number, number[]>();
  /** The hash of the term that was read last. */
  #key = 0;
  /** The distinct terms, one after the other, and where each begins, by the first bytes of the term. */
  #bytes = new Uint8Array(1024);
  #used = 0;
  readonly #byBeginning = new Map<number, number[]>();

  add(row: number, terms: PackedTerms): void {
    for (let at = 0; at < terms.length; ) {
      const weight = terms[at] as number;
      const end = this.#read(terms, at + 1);
      this.#listOf(terms, at + 1, end).push(row * 256 + weight);
      at = end + 1;
    }
  }

  of(term: string): readonly number[] {
    this.#read(Buffer.from(term), 0);
    return this.#lists.get(this.#key) ?? [];
  }

  /** Returns the terms that begin with a text of at least three bytes, except itself. */
  beginningWith(text: string): string[] {
    const wanted = Buffer.from(text);
    const terms: string[] = [];
    for (const from of this.#byBeginning.get(beginningOf(wanted, 0)) ?? []) {
      let at = 0;
      while (at < wanted.length && this.#bytes[from + at] === wanted[at]) at++;
      if (at < wanted.length || this.#bytes[from + at] === END) continue;
      terms.push(Buffer.from(this.#bytes.subarray(from, this.#bytes.indexOf(END, from))).toString());
      if (terms.length === MOST_FORMS) break;
    }
    return terms;
  }

  /** Computes the key of the term that starts there; returns its end. */
  #read(bytes: Uint8Array, from: number): number {
    let high = HIGH;
    let low = LOW;
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === END) break;
      high = Math.imul(high ^ byte, 0x01000193);
      low = Math.imul(low ^ byte, 0x5bd1e995);
      low ^= low >>> 15;
    }
    this.#key = (high >>> 0) * 2 ** 21 + (low >>> 11);
    return at;
  }

  /** Returns the list of the term whose key was computed, a new one if needed. */
  #listOf(terms: Uint8Array, from: number, end: number): number[] {
    const known = this.#lists.get(this.#key);
    if (known) return known;
    this.#keep(terms, from, end);
    const list: number[] = [];
    this.#lists.set(this.#key, list);
    return list;
  }

  #keep(terms: Uint8Array, from: number, end: number): void {
    if (end - from <= BEGINNING) return;
    this.#bytes = grown(this.#bytes, this.#used + end - from + 1);
    const beginning = beginningOf(terms, from);
    const others = this.#byBeginning.get(beginning);
    if (others) others.push(this.#used);
    else this.#byBeginning.set(beginning, [this.#used]);
    this.#bytes.set(terms.subarray(from, end), this.#used);
    this.#used += end - from + 1;
  }
}

function beginningOf(bytes: Uint8Array, from: number): number {
  return ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number);
}

export const rowOf = (posting: number): number => posting >>> 8;
export const countOf = (posting: number): number => posting & COUNT;
export const isInTitle = (posting: number): boolean => (posting & IN_TITLE) !== 0;
