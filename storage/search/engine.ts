import { readEntry, type SearchEntry, type SearchKind } from "./entry.ts";
import type { EntryRow } from "./entry-table.ts";
import { type Model, SearchFile, type StoredEntry } from "./file.ts";
import { packTerms } from "./postings.ts";
import type {
  LegsAnswer,
  LegsQuery,
  NearDuplicate,
  SearchRequest,
  Unembedded,
  VectorRow,
} from "./protocol.ts";
import { TenantIndex } from "./tenant-index.ts";
import { quantise, VectorMemory } from "./vector-memory.ts";

/** Unloads an index after this long without a search. */
const IDLE_MS = 300_000;
/** A tenant is loaded in slices, with other requests in between. */
const SLICE_MS = 15;
const SLICE_ENTRIES = 200;
/** Limit of entries in memory, unless a single tenant has more. */
const MOST_HELD = 500_000;

interface Held {
  index: TenantIndex;
  tenant_id: string;
  kind: SearchKind;
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

  answer(request: SearchRequest): unknown {
    switch (request.op) {
      case "put":
        return this.#put(request.tenant_id, request.entries);
      case "drop":
        return this.#drop(request.tenant_id, request.kind, request.ids);
      case "dropTenant":
        return this.#dropTenant(request.tenant_id);
      case "find":
        return this.#find(request.query, request.partial);
      case "load":
        return this.#loadSlice(this.#holdOf(request.tenant_id, request.kind));
      case "sizes":
        return this.#file.sizes();
      case "useModel":
        return this.#useModel(request.model);
      case "unembedded":
        return this.#unembedded(request);
      case "texts":
        return this.#file.texts(request);
      case "waiting":
        return this.#model ? this.#file.waiting(this.#model.number) : [];
      case "setVectors":
        return this.#setVectors(request.model, request.rows);
      case "nearDuplicates":
        return this.#nearDuplicates(request);
      case "gap":
        return this.#model ? this.#file.gap(this.#model.number, request.tenant_id, request.kind) : 0;
      case "cursor":
        return this.#file.cursor(request.name);
      case "setCursor":
        return this.#file.setCursor(request.name, request.value);
      case "rewrite":
        return this.#file.rewrite(request.mostBytes);
      case "emptyLog":
        return this.#file.emptyLog();
    }
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

  #put(tenant_id: string, entries: readonly SearchEntry[]): void {
    const stored = entries
      .filter((entry) => !this.#isKnown(tenant_id, entry))
      .map((entry) => toStored(tenant_id, entry));
    const outcomes = this.#file.transaction(() => stored.map((each) => this.#file.put(each)));
    for (const [i, each] of stored.entries()) if (outcomes[i]?.isCurrent) this.#hold(each, outcomes[i].model);
  }

  /** Whether an entry is already stored, as is most of what is put again for safety. */
  #isKnown(tenant_id: string, { kind, id, version, removed }: SearchEntry): boolean {
    const known = this.#file.version(tenant_id, kind, id);
    if (known === null || known < version) return false;
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

  #drop(tenant_id: string, kind: SearchKind, ids: readonly string[]): { entries: number; vectors: number } {
    const index = this.#held.get(queueKey(tenant_id, kind))?.index;
    for (const id of ids) index?.remove(id);
    const dropped = this.#file.transaction(() => ids.map((id) => this.#file.drop(tenant_id, kind, id)));
    return {
      entries: dropped.reduce((sum, { entries }) => sum + entries, 0),
      vectors: dropped.reduce((sum, { vectors }) => sum + vectors, 0),
    };
  }

  #dropTenant(tenant_id: string): void {
    for (const [key, held] of this.#held) if (held.tenant_id === tenant_id) this.#letGo(key);
    this.#file.transaction(() => this.#file.dropTenant(tenant_id));
  }

  /** Returns null unless the index is loaded completely. */
  #find(query: LegsQuery, partial = false): LegsAnswer | null {
    const held = this.#holdOf(query.tenant_id, query.kind);
    if (!held.isWhole && !partial) return null;
    const dims = this.#model?.dims ?? null;
    const isMisfit = query.vector !== null && dims !== null && query.vector.length !== dims;
    const vector = isMisfit ? null : query.vector;
    const answer = held.index.legs({ ...query, vector });
    return { ...answer, isMisfit, isPartial: !held.isWhole };
  }

  #useModel(name: string | null): Model | null {
    if (name !== null && name === this.#model?.name) return this.#model;
    for (const { index } of this.#held.values()) index.dropVectors();
    this.#memory = null;
    this.#model = name === null ? null : this.#file.transaction(() => this.#file.useModel(name));
    return this.#model;
  }

  #unembedded({ limit, skip, of }: SearchRequest & { op: "unembedded" }): Unembedded[] {
    return this.#model ? this.#file.unembedded(this.#model.number, limit, skip, of) : [];
  }

  /** Returns how many of the texts still exist. */
  #setVectors(model: string, rows: readonly VectorRow[]): number {
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
  #nearDuplicates(request: SearchRequest & { op: "nearDuplicates" }): NearDuplicate[] | null {
    const { tenant_id, kind, ids, least } = request;
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
  #loadSlice(held: Held): boolean {
    const { index, tenant_id, kind } = held;
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

function toStored(tenant_id: string, given: SearchEntry): StoredEntry {
  const { kind, id, version, removed } = given;
  if (removed) return { tenant_id, kind, id, version, content: null };
  const { title_terms, text_terms, length, signs, text, hash } = readEntry(given);
  const entry = toRow(given, signs, length);
  const content = { entry, terms: packTerms(title_terms, text_terms), hash, text };
  return { tenant_id, kind, id, version, content };
}

function toRow(given: SearchEntry, signs: number, length: number): EntryRow {
  const { id, version, scope, agent_id, team_id, type, project_id, tags, confidence, importance } = given;
  const { created_at, updated_at = created_at, date, expires_at } = given;
  const { superseded, cites, thread, audience = [], metadata = "" } = given;
  const owner = { scope, agent_id, team_id };
  const times = { created_at, updated_at, date, expires_at };
  const marks = { superseded, cites, thread, audience, metadata, signs, length };
  return { id, version, ...owner, type, project_id, tags, confidence, importance, ...times, ...marks };
}
