import { spanOf } from "./entry.ts";
import { type EntryRow, EntryTable } from "./entry-table.ts";
import {
  type Candidate,
  CONTEXT,
  LEG_SIZE,
  MOST_DUPLICATES,
  type Neighbour,
  WITH_NEIGHBOURS,
} from "./features.ts";
import { type PackedTerms, Postings } from "./postings.ts";
import type { Expected, LegsAnswer, LegsQuery } from "./protocol.ts";
import { TextLeg, type TextMatches } from "./text-leg.ts";
import type { Quantised, VectorMemory } from "./vector-memory.ts";
import { VectorTable } from "./vectors.ts";

/** The entries of one tenant and kind in memory: words, vectors and filter fields. */
export class TenantIndex {
  readonly #table = new EntryTable();
  readonly #postings = new Postings();
  readonly #text = new TextLeg();
  #vectors: VectorTable | null = null;

  get size(): number {
    return this.#table.size;
  }

  /** Whether so many rows are dead that rebuilding pays off. */
  get isStale(): boolean {
    const dead = this.#table.size - this.#table.living;
    return dead > 1000 && dead > this.#table.living / 2;
  }

  version(id: string): number | undefined {
    return this.#entry(id)?.version;
  }

  /** @param keepsVector whether the entry's vector belongs to this text */
  put(entry: EntryRow, terms: PackedTerms, keepsVector: boolean): void {
    const old = this.#table.rowOf(entry.id);
    const vector = keepsVector && old !== undefined ? this.#vectors?.get(old) : null;
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
    const view = this.#table.view(query);
    const { visible, documents, averageLength } = view;
    const scope = { table: this.#table, postings: this.#postings, ...view };
    const text = this.#text.match(query, scope, LEG_SIZE);
    const between = performance.now();
    const vectors = query.vector && this.#vectors;
    if (query.vector) vectors?.ask(query.vector);
    const vector = vectors?.best(visible, LEG_SIZE) ?? { rows: [], matched: 0 };
    const ended = performance.now();
    const rows = this.#withNeighbours(text.best, vector.rows, visible);
    return {
      candidates: rows.map((row) => this.#candidate(row, text, vectors, query)),
      corpus: { documents, averageLength, frequencies: text.frequencies },
      matched: { text: text.matched, vector: vector.matched },
      brought: { text: text.best.length, vector: vector.rows.length },
      ms: { text: between - started, vector: ended - between },
      visible: documents,
      ...(query.expect !== undefined && {
        expected: this.#expected(query.expect, query, { visible, rows, text, vectors }),
      }),
    };
  }

  /**
   * Returns the nearest few entries of the same owner, scope and type with a cosine of at least `least`; of those equally
   * near the ones stored next to it, so that each of many copies has others than all have.
   */
  nearDuplicates(id: string, least: number): { id: string; similarity: number }[] {
    const row = this.#table.rowOf(id);
    const own = row === undefined ? null : this.#vectors?.get(row);
    if (row === undefined || !own || !this.#vectors) return [];
    this.#vectors.ask(new Float32Array(own.integers));
    const pairs = this.#vectors.near(least);
    const duplicates = pairs.flatMap(({ row: other, cosine }) => {
      const entry = this.#table.entries[other];
      const isOther = other !== row && this.#table.isOfOneGroup(row, other);
      const distance = Math.abs(other - row);
      return entry && isOther && !entry.superseded ? [{ id: entry.id, similarity: cosine, distance }] : [];
    });
    return duplicates
      .sort((a, b) => b.similarity - a.similarity || a.distance - b.distance)
      .slice(0, MOST_DUPLICATES)
      .map(({ id, similarity }) => ({ id, similarity }));
  }

  #withNeighbours(text: readonly number[], vector: readonly number[], visible: Uint8Array): number[] {
    const rows = new Set([...text, ...vector]);
    const { threads } = this.#table;
    for (const row of [...text.slice(0, WITH_NEIGHBOURS), ...vector.slice(0, WITH_NEIGHBOURS)])
      for (const beside of [threads.before(row), threads.after(row)])
        if (beside >= 0 && visible[beside]) rows.add(beside);
    return [...rows];
  }

  #candidate(row: number, text: TextMatches, vectors: VectorTable | null, query: LegsQuery): Candidate {
    const entry = this.#table.entries[row] as EntryRow;
    const { threads } = this.#table;
    const shown = (at: number): Neighbour => ({
      has: text.has[at] as number,
      title: text.title[at] as number,
      cosine: vectors?.cosine(at) ?? null,
    });
    const walk = (next: (row: number) => number) => {
      const rows: number[] = [];
      for (let at = next(row); at >= 0 && rows.length < CONTEXT; at = next(at))
        if (this.#table.givesContext(at, query)) rows.push(at);
      return rows;
    };
    const before = walk((at) => threads.before(at));
    const previous = before[0];
    return {
      ...shown(row),
      id: entry.id,
      bm25: text.bm25[row] as number,
      length: entry.length,
      signs: entry.signs,
      before: before.map(shown),
      after: walk((at) => threads.after(at)).map(shown),
      asked: previous !== undefined && this.#table.asks(previous) ? (text.has[previous] as number) : 0,
      created_at: entry.created_at,
      date: entry.date,
      confidence: entry.confidence,
      importance: entry.importance,
      cites: entry.cites,
      scope: entry.scope,
      superseded: entry.superseded,
      holds: spanOf(entry.validity),
    };
  }

  #expected(
    id: string,
    query: LegsQuery,
    rows: { visible: Uint8Array; rows: number[]; text: TextMatches; vectors: VectorTable | null },
  ): Expected {
    const row = this.#table.rowOf(id);
    // An entry that the caller may not read is as unknown as a missing one.
    const anywhere = { ...query, where: {}, include_superseded: true, now: Number.NEGATIVE_INFINITY };
    if (row === undefined || !this.#table.visible(anywhere)[row]) return "unknown";
    const entry = this.#table.entries[row] as EntryRow;
    if (entry.expires_at !== null && entry.expires_at <= query.now) return "expired";
    if (entry.superseded && !query.include_superseded && !rows.visible[row]) return "superseded";
    if (!rows.visible[row]) return "filtered";
    if (rows.rows.includes(row)) return "candidate";
    return rows.text.has[row] === 0 && (rows.vectors?.cosine(row) ?? null) === null
      ? "unmatched"
      : "outranked";
  }

  #entry(id: string): EntryRow | null | undefined {
    const row = this.#table.rowOf(id);
    return row === undefined ? undefined : this.#table.entries[row];
  }
}
