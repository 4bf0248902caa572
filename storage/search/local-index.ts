import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Channel, OnDemand } from "mongoose-sqlite/threads";
import { atTickEnd } from "../../lib/queue/tick-end.ts";
import { DAY_MS } from "../../lib/time.ts";
import { REWRITE_MB, type Scrubbed, Scrubber } from "../scrubber.ts";
import { isStoreDamaged } from "../store-lost.ts";
import type { EngineCall, EngineMethod, SearchEngine } from "./engine.ts";
import type { OfKind, SearchEntry, SearchKind } from "./entry.ts";
import { ErasedIds } from "./erased-ids.ts";
import type { Model } from "./file.ts";
import {
  type LegsAnswer,
  type LegsQuery,
  RUN_AT_ONCE,
  type TaskRunner,
  type Unembedded,
  type VectorRow,
} from "./protocol.ts";

const FILE = "search.db";
/** The interface of an index: the local one of a node, or the one in Atlas. */
export type SearchIndex = Pick<LocalIndex, keyof LocalIndex>;

/** Entries are put in batches, so that no search waits long for one. */
const PART = 50;

/** While one search is answered, the others are ready. */
const SEARCHES_AT_ONCE = 3;

/** Tenants with up to this many entries in all are loaded before the first search. */
const MOST_WARM = 150_000;

/** How long a search waits for its tenant to load completely. */
const LOAD_PATIENCE_MS = 5000;

/** After five idle minutes memory is unloaded, and the thread has nothing left to do. */
const IDLE_MS = 330_000;

interface Options {
  /** Contains the file. */
  dataDir: string;
  /** Called when the thread fails; the next request starts a new one. */
  onDeath(error: Error): void;
  /** How long an idle thread stays. */
  idleMs?: number;
  /** A larger file is not rewritten after an erasure. */
  rewriteMegabytes?: number;
}

/** A domain's progress; `savedAt` on the clock of `performance.now()`. */
interface Cursor {
  value: string | null;
  savedAt: number;
}

/**
 * The index of a node in a separate thread: words and vectors of all tenants in `DATA_DIR/search.db`, and those of
 * active tenants in memory. It is derived from the store, and rebuilt if unusable. The thread runs from the first entry
 * or search on, as long as it has work.
 */
export class LocalIndex {
  /** Whether all nodes use the same index. */
  readonly isShared: boolean = false;
  readonly searchesAtOnce: number = SEARCHES_AT_ONCE;
  readonly #file: string;
  readonly #thread: OnDemand<EngineCall>;
  readonly #scrubber: Scrubber;
  readonly #erased = new ErasedIds();
  readonly #loading = new Map<string, Promise<void>>();
  /** Cached while the thread runs or rests: another thread may find another file. */
  readonly #cursors = new Map<string, Cursor>();
  #model: string | null = null;
  /** Number of puts, and the time of the last. */
  #puts = 0;
  #putAt = Number.NEGATIVE_INFINITY;
  /** The number of puts at which every entry had its vector. */
  #embeddedPuts = Number.NaN;
  #isClosed = false;

  constructor({ dataDir, onDeath, idleMs = IDLE_MS, rewriteMegabytes = REWRITE_MB }: Options) {
    this.#file = join(dataDir, FILE);
    const module = new URL("./worker.ts", import.meta.url);
    const settings = { atTickEnd, file: this.#file, module, name: "search" };
    const start = () => {
      this.#cursors.clear();
      const channel = new Channel<EngineCall>(settings, ({ message }) => new Error(message), onDeath);
      if (this.#model !== null) channel.request({ method: "useModel", args: [this.#model] }).catch(() => {});
      return channel;
    };
    this.#thread = new OnDemand({ start, idleMs });
    this.#scrubber = new Scrubber(
      {
        rewrite: (mostBytes) => this.#call("rewrite", mostBytes),
        emptyLog: () => this.#call("emptyLog"),
      },
      rewriteMegabytes,
    );
  }

  /** Rejects with the reason if the index cannot be used. */
  async ready(): Promise<void> {
    if (!this.#isBlank()) await this.#thread.get().ready();
  }

  /** Nothing was ever put, so there is nothing to ask for. */
  #isBlank(): boolean {
    return !this.#thread.isRunning && !existsSync(this.#file);
  }

  async #call<M extends EngineMethod>(
    method: M,
    ...args: Parameters<SearchEngine[M]>
  ): Promise<ReturnType<SearchEngine[M]>> {
    if (this.#isClosed) throw new Error("the search index is closed");
    const request = { method, args } as EngineCall;
    const thread = this.#thread.get();
    return thread.request<ReturnType<SearchEngine[M]>>(request).catch((err) => {
      // The thread has removed its damaged file: another one begins with a new file.
      if (!thread.failure || !isStoreDamaged(thread.failure.cause) || this.#isClosed) throw err;
      return this.#thread.get().request(request);
    });
  }

  /**
   * Resolves when all entries can be found. An older version never replaces a newer one. @param runTask runs each batch
   * of entries
   */
  async put(tenant_id: string, entries: readonly SearchEntry[], runTask = RUN_AT_ONCE): Promise<void> {
    for (let from = 0; from < entries.length; from += PART) {
      const part = entries.slice(from, from + PART);
      await runTask(part.length, () => {
        this.#puts++;
        // Some entries may be erased while the batch waits.
        const entries = [...this.#erased.without(tenant_id, part)];
        return this.#call("put", tenant_id, entries);
      });
    }
    this.#putAt = performance.now();
  }

  /** Erases entries completely and refuses them later; returns how many there were. */
  async drop(tenant_id: string, kind: SearchKind, ids: string[]) {
    this.#erased.add(tenant_id, kind, ids);
    if (this.#isBlank()) return { entries: 0, vectors: 0 };
    return this.#call("drop", tenant_id, kind, ids);
  }

  async dropTenant(tenant_id: string): Promise<void> {
    this.#erased.addTenant(tenant_id);
    if (!this.#isBlank()) await this.#call("dropTenant", tenant_id);
  }

  /** Removes the entries of tenants that other nodes hold; they may be put again. */
  async release(isKept: (tenant_id: string) => boolean): Promise<void> {
    const sizes = this.#isBlank() ? [] : await this.#call("sizes");
    const tenants = new Set(sizes.map(({ tenant_id }) => tenant_id));
    for (const tenant_id of tenants) if (!isKept(tenant_id)) await this.#call("dropTenant", tenant_id);
  }

  /**
   * Loads tenants before their first search, most recently changed first, up to a limit. @returns the number of entries
   * then loaded
   */
  async warm(owns: (tenant_id: string) => boolean): Promise<number> {
    let held = 0;
    const sizes = this.#isBlank() ? [] : await this.#call("sizes");
    for (const { tenant_id, kind, entries } of sizes) {
      if (!owns(tenant_id) || held + entries > MOST_WARM) continue;
      await this.#load(tenant_id, kind);
      held += entries;
    }
    return held;
  }

  /**
   * Returns the candidates of both legs. A vector with other dimensions than the model's is ignored. An unloaded tenant
   * is loaded first while other requests continue; if that takes very long, the loaded part is searched.
   */
  async legs(query: LegsQuery, runTask = RUN_AT_ONCE): Promise<LegsAnswer> {
    const result = await runTask(1, () => this.#call("find", query));
    return result ?? this.#legsWhenLoaded(query, runTask);
  }

  async #legsWhenLoaded(query: LegsQuery, runTask: TaskRunner): Promise<LegsAnswer> {
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([
      this.#load(query.tenant_id, query.kind),
      setTimeout(LOAD_PATIENCE_MS, undefined, { signal }).catch(() => {}),
    ]).finally(() => patience.abort());
    return runTask(1, () => this.#call("find", query, true) as Promise<LegsAnswer>);
  }

  /** Loads a tenant slice by slice, once for all waiting searches. */
  #load(tenant_id: string, kind: SearchKind): Promise<void> {
    const key = `${tenant_id} ${kind}`;
    const load = async () => {
      while (!(await this.#call("load", tenant_id, kind)));
    };
    const loading = this.#loading.get(key) ?? load().finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    // A search that stopped waiting ignores a later failure.
    loading.catch(() => {});
    return loading;
  }

  /** Sets the model whose vectors count. Null: no vectors, or nothing that could have one. */
  async useModel(model: string | null): Promise<Model | null> {
    this.#model = model;
    this.#embeddedPuts = Number.NaN;
    if (!this.#thread.isRunning && (model === null || this.#isBlank())) return null;
    return this.#call("useModel", model);
  }

  /** Returns tenants with entries that still lack a vector of the model. */
  async waiting(): Promise<string[]> {
    const puts = this.#puts;
    if (this.#isEmbedded()) return [];
    const tenants = await this.#call("waiting");
    if (tenants.length === 0) this.#embeddedPuts = puts;
    return tenants;
  }

  /** Returns some entries that still lack a vector of the model, after the first `skip`. */
  async unembedded(limit: number, skip: number, of: OfKind): Promise<Unembedded[]> {
    if (this.#isEmbedded()) return [];
    return this.#call("unembedded", limit, skip, of);
  }

  /** Returns the beginnings of entries' titles and texts by id, without those that do not exist. */
  texts(tenant_id: string, kind: SearchKind, ids: string[], characters: number) {
    return this.#call("texts", tenant_id, kind, ids, characters);
  }

  /** Whether no vector is known to be missing. */
  #isEmbedded(): boolean {
    return this.#model === null || this.#puts === this.#embeddedPuts || this.#isBlank();
  }

  /** Sets vectors of texts that still exist; returns their number. */
  setVectors(model: string, rows: VectorRow[]): Promise<number> {
    return this.#call("setVectors", model, rows);
  }

  /** Returns pairs of one owner, scope and type with a cosine of at least `least`, one of them in `ids`. */
  async nearDuplicates(tenant_id: string, kind: SearchKind, ids: string[], least: number) {
    for (;;) {
      const pairs = await this.#call("nearDuplicates", tenant_id, kind, ids, least);
      if (pairs) return pairs;
      await this.#load(tenant_id, kind);
    }
  }

  /** Counts entries without a vector of the model. */
  async gap(tenant_id: string, kind: SearchKind): Promise<number> {
    if (this.#isEmbedded()) return 0;
    return this.#call("gap", tenant_id, kind);
  }

  async cursor(name: string): Promise<string | null> {
    const known = this.#cursors.get(name);
    if (known) return known.value;
    if (this.#isBlank()) return null;
    const value = await this.#call("cursor", name);
    this.#cursors.set(name, { value, savedAt: Number.NEGATIVE_INFINITY });
    return value;
  }

  /**
   * Saves it to disk only after new puts or a day, so that an unchanged cursor wakes no thread.
   * @param atOnce saves it without new puts, too, unless nothing was ever put
   * @returns whether it is saved
   */
  async setCursor(name: string, value: string, atOnce = false): Promise<boolean> {
    const now = performance.now();
    const savedAt = this.#cursors.get(name)?.savedAt ?? Number.NEGATIVE_INFINITY;
    const isDue = atOnce || this.#putAt >= savedAt || now - savedAt > DAY_MS;
    if (!isDue || this.#isBlank()) {
      this.#cursors.set(name, { value, savedAt });
      return false;
    }
    await this.#call("setCursor", name, value);
    this.#cursors.set(name, { value, savedAt: now });
    return true;
  }

  /** Resolves when the file and its log contain nothing dropped before; null without a file. */
  async scrub(): Promise<Scrubbed | null> {
    return this.#isBlank() ? null : this.#scrubber.scrub();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#thread.close();
  }
}
