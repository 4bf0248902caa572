import type { Candidate, Corpus, Neighbour } from "../../lib/search-features.ts";
import { Highest } from "./columns.ts";
import { type EntryRow, EntryTable } from "./entry-table.ts";
import { Postings, type Terms } from "./postings.ts";
import type { Expected, LegsAnswer, LegsQuery } from "./protocol.ts";
import { matchText, type TextMatches } from "./text-leg.ts";
import { type Quantised, type VectorMemory, VectorTable } from "./vectors.ts";

/** How many candidates each leg brings. */
const LEG_SIZE = 200;
/** So many of the best of each leg bring the entries beside them too. */
const WITH_NEIGHBOURS = 50;
/** How many neighbours a candidate shows, to each side. */
const CONTEXT = 4;

/** The entries of one tenant and kind in memory: words, vectors, and what filters need. */
export class TenantIndex {
  readonly #table = new EntryTable();
  readonly #postings = new Postings();
  #vectors: VectorTable | null = null;

  get size(): number {
    return this.#table.size;
  }

  /** Of what is held, how much is of entries that are no more: then it is better built anew. */
  get isStale(): boolean {
    const dead = this.#table.size - this.#table.living;
    return dead > 1000 && dead > this.#table.living / 2;
  }

  version(id: string): number | undefined {
    return this.#entry(id)?.version;
  }

  /** @param keepsVector the text is the one that the entry's vector was made of */
  put(entry: EntryRow, terms: Terms, keepsVector: boolean): void {
    const old = this.#table.rowOf(entry.id);
    const vector = keepsVector && old !== undefined ? this.#vectors?.quantised(old) : null;
    if (old !== undefined) this.#vectors?.remove(old);
    const row = this.#table.add(entry);
    this.#postings.add(row, terms);
    if (vector) this.#vectors?.set(row, vector);
  }

  remove(id: string): void {
    const row = this.#table.remove(id);
    if (row !== undefined) this.#vectors?.remove(row);
  }

  setVector(id: string, vector: Quantised, memory: VectorMemory): void {
    const row = this.#table.rowOf(id);
    if (row === undefined) return;
    this.#vectors ??= new VectorTable(memory);
    this.#vectors.set(row, vector);
  }

  dropVectors(): void {
    this.#vectors?.release();
    this.#vectors = null;
  }

  legs(query: LegsQuery): Omit<LegsAnswer, "isMisfit"> {
    const started = performance.now();
    const visible = this.#table.visible(query);
    const corpus = this.#corpus(visible);
    const scope = { table: this.#table, postings: this.#postings, visible, ...corpus };
    const text = matchText(query.terms, scope, LEG_SIZE);
    const between = performance.now();
    const vector = this.#matchVectors(query.vector, visible);
    const ended = performance.now();
    const rows = this.#withNeighbours(text.best, vector.best, visible);
    return {
      candidates: rows.map((row) => this.#candidate(row, text, vector.cosines, query)),
      corpus: { ...corpus, frequencies: text.frequencies },
      matched: { text: text.matched, vector: vector.matched },
      brought: { text: text.best.length, vector: vector.best.length },
      ms: { text: between - started, vector: ended - between },
      entries: this.#table.living,
      visible: corpus.documents,
      ...(query.expect !== undefined && {
        expected: this.#expected(query.expect, query, { visible, rows, text, cosines: vector.cosines }),
      }),
    };
  }

  /** Entries of the same owner, scope and type whose cosine to this one's is `least` or more. */
  nearDuplicates(id: string, least: number): { id: string; similarity: number }[] {
    const row = this.#table.rowOf(id);
    const own = row === undefined ? null : this.#vectors?.quantised(row);
    if (row === undefined || !own || !this.#vectors) return [];
    const cosines = this.#vectors.cosines(Float32Array.from(own.integers), this.#table.size);
    const found: { id: string; similarity: number }[] = [];
    cosines.forEach((similarity, other) => {
      if (similarity < least || other === row || Number.isNaN(similarity)) return;
      const entry = this.#table.entries[other];
      if (entry && !entry.superseded && this.#table.isOfOneGroup(row, other))
        found.push({ id: entry.id, similarity });
    });
    return found;
  }

  #corpus(visible: Uint8Array): Omit<Corpus, "frequencies"> {
    let documents = 0;
    let length = 0;
    for (let row = 0; row < visible.length; row++) {
      if (!visible[row]) continue;
      documents++;
      length += this.#table.lengths[row] as number;
    }
    return { documents, averageLength: documents ? Math.max(1, length / documents) : 1 };
  }

  #matchVectors(vector: Float32Array | null, visible: Uint8Array) {
    if (!vector || !this.#vectors) return { cosines: null, best: [], matched: 0 };
    const cosines = this.#vectors.cosines(vector, this.#table.size);
    const highest = new Highest(LEG_SIZE);
    let matched = 0;
    for (let row = 0; row < cosines.length; row++) {
      const cosine = cosines[row] as number;
      if (!visible[row] || Number.isNaN(cosine)) continue;
      matched++;
      highest.offer(row, cosine);
    }
    return { cosines, best: highest.items(), matched };
  }

  #withNeighbours(text: readonly number[], vector: readonly number[], visible: Uint8Array): number[] {
    const rows = new Set([...text, ...vector]);
    const { threads } = this.#table;
    for (const row of [...text.slice(0, WITH_NEIGHBOURS), ...vector.slice(0, WITH_NEIGHBOURS)])
      for (const beside of [threads.before(row), threads.after(row)])
        if (beside >= 0 && visible[beside]) rows.add(beside);
    return [...rows];
  }

  #candidate(row: number, text: TextMatches, cosines: Float32Array | null, query: LegsQuery): Candidate {
    const entry = this.#table.entries[row] as EntryRow;
    const { threads } = this.#table;
    const shown = (at: number): Neighbour => ({
      has: text.has[at] as number,
      title: text.title[at] as number,
      cosine: cosineAt(cosines, at),
    });
    const walk = (next: (row: number) => number) => {
      const found: Neighbour[] = [];
      for (let at = next(row); at >= 0 && found.length < CONTEXT; at = next(at))
        if (this.#table.givesContext(at, query)) found.push(shown(at));
      return found;
    };
    return {
      ...shown(row),
      id: entry.id,
      bm25: text.bm25[row] as number,
      length: entry.length,
      signs: entry.signs,
      before: walk((at) => threads.before(at)),
      after: walk((at) => threads.after(at)),
      created_at: entry.created_at,
      date: entry.date,
      confidence: entry.confidence,
      importance: entry.importance,
      cites: entry.cites,
      scope: entry.scope,
      superseded: entry.superseded,
    };
  }

  #expected(
    id: string,
    query: LegsQuery,
    found: { visible: Uint8Array; rows: number[]; text: TextMatches; cosines: Float32Array | null },
  ): Expected {
    const row = this.#table.rowOf(id);
    // What the caller may not read is as unknown as what is not there.
    const anywhere = { ...query, where: {}, include_superseded: true, now: Number.NEGATIVE_INFINITY };
    if (row === undefined || !this.#table.visible(anywhere)[row]) return "unknown";
    const entry = this.#table.entries[row] as EntryRow;
    if (entry.expires_at !== null && entry.expires_at <= query.now) return "expired";
    if (entry.superseded && !query.include_superseded) return "superseded";
    if (!found.visible[row]) return "filtered";
    if (found.rows.includes(row)) return "candidate";
    return found.text.has[row] === 0 && cosineAt(found.cosines, row) === null ? "unmatched" : "outranked";
  }

  #entry(id: string): EntryRow | null | undefined {
    const row = this.#table.rowOf(id);
    return row === undefined ? undefined : this.#table.entries[row];
  }
}

function cosineAt(cosines: Float32Array | null, row: number): number | null {
  const cosine = cosines?.[row];
  return cosine === undefined || Number.isNaN(cosine) ? null : cosine;
}
