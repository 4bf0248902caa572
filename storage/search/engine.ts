import { type OfKind, readEntry, type SearchEntry, type SearchKind, wholeEntry } from "./entry.ts";
import type { EntryRow } from "./entry-table.ts";
import { type Model, SearchFile, type StoredEntry } from "./file.ts";
import { packTerms } from "./postings.ts";
import type { LegsAnswer, LegsQuery, NearDuplicate, Size, Unembedded, VectorRow } from "./protocol.ts";
import { TenantIndex } from "./tenant-index.ts";
import { quantise, VectorMemory } from "./vector-memory.ts";

/** Unloads an index after this long without a search. */
const IDLE_MS = 300_000;
/** A tenant is loaded in slices, with other requests in between. */
const SLICE_MS = 15;
const SLICE_ENTRIES = 200;
/** Limit of entries in memory, unless a single tenant has more. */
const MOST_HELD = 500_000;

/** A call of the engine in its thread. */
export type EngineCall<M extends EngineMethod = EngineMethod> = {
  [K in M]: { method: K; args: Parameters<SearchEngine[K]> };
}[M];
export type EngineMethod = Exclude<keyof SearchEngine, "tidy" | "close">;

interface Held extends OfKind {
  index: TenantIndex;
  usedAt: number;
  /** The last id loaded. */
  loadedTo: string;
  isWhole: boolean;
}

/** The local search index: everything on disk, and the tenants in use also in memory. */
export class SearchEngine {
  readonly #file: SearchFile;
  /** Least recently used first. */
  readonly #held = new Map<string, Held>();
  #model: Model | null = null;
  #memory: VectorMemory | null = null;

  constructor(file: string) {
    this.#file = new SearchFile(file);
  }

  /** Unloads indexes that were not used recently. */
  tidy(now = performance.now()): void {
    const idle = [...this.#held].filter(([, { usedAt }]) => now - usedAt > IDLE_MS);
    if (idle.length === 0) return;
    for (const [key] of idle) this.#letGo(key);
    // Memory of WebAssembly never shrinks; a new one starts small.
    if (this.#held.size === 0) this.#memory = null;
  }

  close(): void {
    this.#file.close();
  }

  sizes(): Size[] {
    return this.#file.sizes();
  }

  texts(tenant_id: string, kind: SearchKind, ids: string[], characters: number): Record<string, string> {
    return this.#file.texts(tenant_id, kind, ids, characters);
  }

  cursor(name: string): string | null {
    return this.#file.cursor(name);
  }

  setCursor(name: string, value: string): void {
    this.#file.setCursor(name, value);
  }

  rewrite(mostBytes: number): boolean {
    return this.#file.rewrite(mostBytes);
  }

  emptyLog(): boolean {
    return this.#file.emptyLog();
  }

  put(tenant_id: string, entries: readonly SearchEntry[]): void {
    const stored = entries
      .filter((entry) => !this.#isKnown(tenant_id, entry))
      .map((entry) => toStored(tenant_id, entry));
    const outcomes = this.#file.transaction(() => stored.map((each) => this.#file.put(each)));
    for (const [i, each] of stored.entries()) if (outcomes[i]?.isCurrent) this.#hold(each, outcomes[i].model);
  }

  /** Whether an entry is already stored, as is most of what is put again for safety. */
  #isKnown(tenant_id: string, { kind, id, version, removed }: SearchEntry): boolean {
    const known = this.#file.find(tenant_id, kind, id)?.version;
    if (known === undefined || known < version) return false;
    const index = this.#held.get(queueKey(tenant_id, kind))?.index;
    return known > version || removed === true || !index || index.version(id) === version;
  }

  /** Updates memory by its own version, which may lag behind: another process may share the file. */
  #hold({ tenant_id, kind, id, version, content }: StoredEntry, model: number): void {
    const index = this.#held.get(queueKey(tenant_id, kind))?.index;
    if (!index) return;
    const known = index.version(id);
    if (known !== undefined && known >= version) return;
    if (content) index.put(content.entry, content.terms, model === this.#model?.number);
    else index.remove(id);
    if (index.isStale) this.#letGo(queueKey(tenant_id, kind));
  }

  drop(tenant_id: string, kind: SearchKind, ids: readonly string[]): { entries: number; vectors: number } {
    const index = this.#held.get(queueKey(tenant_id, kind))?.index;
    for (const id of ids) index?.remove(id);
    const dropped = this.#file.transaction(() => ids.map((id) => this.#file.drop(tenant_id, kind, id)));
    return {
      entries: dropped.reduce((sum, { entries }) => sum + entries, 0),
      vectors: dropped.reduce((sum, { vectors }) => sum + vectors, 0),
    };
  }

  dropTenant(tenant_id: string): void {
    for (const [key, held] of this.#held) if (held.tenant_id === tenant_id) this.#letGo(key);
    this.#file.transaction(() => this.#file.dropTenant(tenant_id));
  }

  /** Returns null unless the index is loaded completely. */
  find(query: LegsQuery, partial = false): LegsAnswer | null {
    const held = this.#holdOf(query.tenant_id, query.kind);
    if (!held.isWhole && !partial) return null;
    const dims = this.#model?.dims ?? null;
    const isMisfit = query.vector !== null && dims !== null && query.vector.length !== dims;
    const vector = isMisfit ? null : query.vector;
    const answer = held.index.legs({ ...query, vector });
    return { ...answer, isMisfit, isPartial: !held.isWhole };
  }

  useModel(name: string | null): Model | null {
    if (name !== null && name === this.#model?.name) return this.#model;
    for (const { index } of this.#held.values()) index.dropVectors();
    this.#memory = null;
    this.#model = name === null ? null : this.#file.transaction(() => this.#file.useModel(name));
    return this.#model;
  }

  waiting(): string[] {
    return this.#model ? this.#file.waiting(this.#model.number) : [];
  }

  unembedded(limit: number, skip: number, of: OfKind): Unembedded[] {
    return this.#model ? this.#file.unembedded(this.#model.number, limit, skip, of) : [];
  }

  gap(tenant_id: string, kind: SearchKind): number {
    return this.#model ? this.#file.gap(this.#model.number, tenant_id, kind) : 0;
  }

  /** Returns how many of the texts still exist. */
  setVectors(model: string, rows: readonly VectorRow[]): number {
    const current = this.#model;
    const dims = rows[0]?.vector.length;
    if (!current || current.name !== model || dims === undefined) return 0;
    if (current.dims === null) {
      this.#file.setDimensions(current.number, dims);
      current.dims = dims;
    }
    const memory = this.#vectorMemory(current.dims);
    const known = current.dims;
    const fitting = rows.filter(({ vector }) => vector.length === known);
    return this.#file.transaction(() => {
      let taken = 0;
      for (const row of fitting) {
        const vector = quantise(row.vector, memory.dims);
        if (!this.#file.setVector(row, current.number, vector)) continue;
        taken++;
        this.#held.get(queueKey(row.tenant_id, row.kind))?.index.setVector(row.id, vector, memory);
      }
      return taken;
    });
  }

  /** Returns null unless the index is loaded completely. */
  nearDuplicates(
    tenant_id: string,
    kind: SearchKind,
    ids: readonly string[],
    least: number,
  ): NearDuplicate[] | null {
    const { index, isWhole } = this.#holdOf(tenant_id, kind);
    if (!isWhole) return null;
    return ids.flatMap((a) =>
      index.nearDuplicates(a, least).map(({ id, similarity }) => ({ tenant_id, kind, a, b: id, similarity })),
    );
  }

  #holdOf(tenant_id: string, kind: SearchKind): Held {
    const key = queueKey(tenant_id, kind);
    const held = this.#held.get(key) ?? newHeld(tenant_id, kind);
    held.usedAt = performance.now();
    this.#held.delete(key);
    this.#held.set(key, held);
    this.#makeRoom(key);
    return held;
  }

  /** Loads one slice; returns whether everything is loaded. Entries put meanwhile are newer and stay. */
  load(tenant_id: string, kind: SearchKind): boolean {
    const held = this.#holdOf(tenant_id, kind);
    const { index } = held;
    const until = performance.now() + SLICE_MS;
    while (!held.isWhole && performance.now() < until) {
      const page = { tenant_id, kind, after: held.loadedTo, limit: SLICE_ENTRIES };
      const entries = this.#file.load(page, this.#model?.number ?? 0);
      for (const { entry, terms: words, vector } of entries) {
        if (index.version(entry.id) === undefined) index.put(entry, words, false);
        if (vector && this.#model?.dims)
          index.setVector(entry.id, vector, this.#vectorMemory(this.#model.dims));
      }
      held.loadedTo = entries.at(-1)?.entry.id ?? held.loadedTo;
      held.isWhole = entries.length < SLICE_ENTRIES;
    }
    return held.isWhole;
  }

  #makeRoom(except: string): void {
    let total = 0;
    for (const { index } of this.#held.values()) total += index.size;
    for (const [key, { index }] of this.#held) {
      if (total <= MOST_HELD) return;
      if (key === except) continue;
      total -= index.size;
      this.#letGo(key);
    }
  }

  #letGo(key: string): void {
    this.#held.get(key)?.index.dropVectors();
    this.#held.delete(key);
  }

  #vectorMemory(dims: number): VectorMemory {
    this.#memory ??= new VectorMemory(dims);
    return this.#memory;
  }
}

function newHeld(tenant_id: string, kind: SearchKind): Held {
  return { index: new TenantIndex(), tenant_id, kind, usedAt: 0, loadedTo: "", isWhole: false };
}

function queueKey(tenant_id: string, kind: SearchKind): string {
  return `${tenant_id} ${kind}`;
}

function toStored(tenant_id: string, source: SearchEntry): StoredEntry {
  const { kind, removed, title: _title, text: _text, ...others } = wholeEntry(source);
  const { id, version } = others;
  if (removed) return { tenant_id, kind, id, version, content: null };
  const { title_terms, text_terms, length, signs, text, hash } = readEntry(source);
  const entry: EntryRow = { ...others, signs, length };
  const content = { entry, terms: packTerms(title_terms, text_terms), hash, text };
  return { tenant_id, kind, id, version, content };
}
