import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Channel, OnDemand } from "mongoose-sqlite/threads";
import { DAY_MS } from "../../lib/time.ts";
import { REWRITE_MB, type Scrubbed, Scrubber } from "../scrubber.ts";
import { threads } from "../threads.ts";
import { type PackedCandidates, unpackCandidates } from "./candidates.ts";
import type { SearchEntry, SearchKind } from "./entry.ts";
import { ErasedIds } from "./erased-ids.ts";
import type { Model } from "./file.ts";
import {
  AT_ONCE,
  type InTurn,
  type LegsAnswer,
  type LegsQuery,
  type NearDuplicate,
  type OfTenant,
  type SearchRequest,
  type Size,
  type Unembedded,
  type VectorRow,
} from "./protocol.ts";

const FILE = "search.db";
/** What search asks an index for: the local one of a node, or the one of Atlas. */
export type SearchIndex = Pick<LocalIndex, keyof LocalIndex>;

/** What is put travels in parts, so that no search waits long behind it. */
const PART = 50;

/** One is answered, the others are at hand when it is. */
const SEARCHES_AT_ONCE = 3;

/** Of so many entries the tenants are loaded before anybody asks. */
const MOST_WARM = 150_000;

/** So long a search waits until all of its tenant is loaded. */
const LOAD_PATIENCE_MS = 5000;

type PackedAnswer = LegsAnswer<PackedCandidates>;

/** What is held in memory is let go of after five quiet minutes: there is nothing left then that the thread is for. */
const IDLE_MS = 330_000;

interface Options {
  /** The file is in it. */
  dataDir: string;
  /** Is told when the thread fails; the next that asks has a new one. */
  onDeath(error: Error): void;
  /** How long the thread stays when it is asked nothing. */
  idleMs?: number;
  /** A larger file is not rewritten after an erasure. */
  rewriteMegabytes?: number;
}

/** How far a domain has been caught up with; `savedAt` on the clock of `performance.now()`. */
interface Cursor {
  value: string | null;
  savedAt: number;
}

/**
 * The index of a node in a thread of its own: words and vectors of all tenants in `DATA_DIR/search.db`, and in memory
 * those that are being asked. It is derived from the store, and made anew when it cannot be used. The thread is there
 * from the first entry or search on, and while there is something to do for it.
 */
export class LocalIndex {
  readonly searchesAtOnce: number = SEARCHES_AT_ONCE;
  readonly #file: string;
  readonly #thread: OnDemand<SearchRequest>;
  readonly #scrubber: Scrubber;
  readonly #erased = new ErasedIds();
  readonly #loading = new Map<string, Promise<void>>();
  /** As long as the thread runs, and while it rests: another one may find another file. */
  readonly #cursors = new Map<string, Cursor>();
  #model: string | null = null;
  /** What was put: how often, and when last. */
  #puts = 0;
  #putAt = Number.NEGATIVE_INFINITY;
  /** Every entry had its vector when this many were put. */
  #embeddedPuts = Number.NaN;
  #isClosed = false;

  constructor({ dataDir, onDeath, idleMs = IDLE_MS, rewriteMegabytes = REWRITE_MB }: Options) {
    this.#file = join(dataDir, FILE);
    const entry = new URL("./worker.ts", import.meta.url).href;
    const settings = { ...threads, file: this.#file, entry, name: "search" };
    const start = () => {
      this.#cursors.clear();
      const channel = new Channel<SearchRequest>(settings, ({ message }) => new Error(message), onDeath);
      if (this.#model !== null) channel.request({ op: "useModel", model: this.#model }).catch(() => {});
      return channel;
    };
    this.#thread = new OnDemand({ start, idleMs });
    this.#scrubber = new Scrubber(
      {
        rewrite: (mostBytes) => this.#request({ op: "rewrite", mostBytes }),
        emptyLog: () => this.#request({ op: "emptyLog" }),
      },
      rewriteMegabytes,
    );
  }

  /** Rejects with the reason when it cannot be used. */
  async ready(): Promise<void> {
    if (!this.#isBlank()) await this.#thread.get().ready();
  }

  /** Nothing was ever put: there is no need to ask. */
  #isBlank(): boolean {
    return !this.#thread.isRunning && !existsSync(this.#file);
  }

  #request<T>(request: SearchRequest): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error("the search index is closed"));
    return this.#thread.get().request(request);
  }

  /** Fulfils when all can be found. An older version never replaces a newer one. @param inTurn of so many entries */
  async put(tenant_id: string, entries: readonly SearchEntry[], inTurn = AT_ONCE): Promise<void> {
    for (let from = 0; from < entries.length; from += PART) {
      const part = entries.slice(from, from + PART);
      await inTurn(part.length, () => {
        this.#puts++;
        // When its turn comes, some of it may have been erased.
        const entries = [...this.#erased.without(tenant_id, part)];
        return this.#request({ op: "put", tenant_id, entries });
      });
    }
    this.#putAt = performance.now();
  }

  /** Erases entries with all that is known of them, and takes none of them later; gives how many there were. */
  async drop(
    tenant_id: string,
    kind: SearchKind,
    ids: string[],
  ): Promise<{ entries: number; vectors: number }> {
    this.#erased.add(tenant_id, kind, ids);
    if (this.#isBlank()) return { entries: 0, vectors: 0 };
    return this.#request({ op: "drop", tenant_id, kind, ids });
  }

  async dropTenant(tenant_id: string): Promise<void> {
    this.#erased.addTenant(tenant_id);
    if (!this.#isBlank()) await this.#request({ op: "dropTenant", tenant_id });
  }

  /**
   * Loads tenants before they are asked, those first that changed last, as long as there is room. @returns how many
   * entries are held then
   */
  async warm(owns: (tenant_id: string) => boolean): Promise<number> {
    let held = 0;
    const sizes = this.#isBlank() ? [] : await this.#request<Size[]>({ op: "sizes" });
    for (const { tenant_id, kind, entries } of sizes) {
      if (!owns(tenant_id) || held + entries > MOST_WARM) continue;
      await this.#load(tenant_id, kind);
      held += entries;
    }
    return held;
  }

  /**
   * What both legs bring. A vector of other dimensions than the model's is as none. A tenant whose turn it has not been
   * for long is loaded first, others going on meanwhile; of one that takes very long what is there is brought.
   */
  async legs(query: LegsQuery, inTurn = AT_ONCE): Promise<LegsAnswer> {
    const find = { op: "find", query } as const;
    const found = await inTurn(1, () => this.#request<PackedAnswer | null>(find));
    const answer = found ?? (await this.#legsWhenLoaded(query, inTurn));
    return { ...answer, candidates: unpackCandidates(answer.candidates) };
  }

  async #legsWhenLoaded(query: LegsQuery, inTurn: InTurn): Promise<PackedAnswer> {
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([
      this.#load(query.tenant_id, query.kind),
      setTimeout(LOAD_PATIENCE_MS, undefined, { signal }).catch(() => {}),
    ]).finally(() => patience.abort());
    return inTurn(1, () => this.#request<PackedAnswer>({ op: "find", query, partial: true }));
  }

  /** Loads a tenant, slice by slice, once for all that wait for it. */
  #load(tenant_id: string, kind: SearchKind): Promise<void> {
    const key = `${tenant_id} ${kind}`;
    const load = async () => {
      while (!(await this.#request<boolean>({ op: "load", tenant_id, kind })));
    };
    const loading = this.#loading.get(key) ?? load().finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    // Who waited only for a part hears nothing of its end.
    loading.catch(() => {});
    return loading;
  }

  /** Vectors of any other model do not count from now on. Null: no vectors, or nothing that could have one. */
  async useModel(model: string | null): Promise<Model | null> {
    this.#model = model;
    this.#embeddedPuts = Number.NaN;
    if (!this.#thread.isRunning && (model === null || this.#isBlank())) return null;
    return this.#request({ op: "useModel", model });
  }

  /** Tenants with entries that have no vector of the model yet. */
  async waiting(): Promise<string[]> {
    const puts = this.#puts;
    if (this.#isEmbedded()) return [];
    const tenants = await this.#request<string[]>({ op: "waiting" });
    if (tenants.length === 0) this.#embeddedPuts = puts;
    return tenants;
  }

  /** Some of the entries that have no vector of the model yet, after leaving out the first `skip`. */
  async unembedded(limit: number, skip = 0, of?: OfTenant): Promise<Unembedded[]> {
    if (this.#isEmbedded()) return [];
    return this.#request({ op: "unembedded", limit, skip, ...(of && { of }) });
  }

  /** Whether it is known that no vector is missing. */
  #isEmbedded(): boolean {
    return this.#model === null || this.#puts === this.#embeddedPuts || this.#isBlank();
  }

  /** Sets vectors of texts that are still there; gives how many those were. */
  setVectors(model: string, rows: VectorRow[]): Promise<number> {
    return this.#request({ op: "setVectors", model, rows });
  }

  /** Pairs of one owner, scope and type, one of them in `ids`, whose cosine is `least` or more. */
  async nearDuplicates(
    tenant_id: string,
    kind: SearchKind,
    ids: string[],
    least: number,
  ): Promise<NearDuplicate[]> {
    for (;;) {
      const request = { op: "nearDuplicates", tenant_id, kind, ids, least } as const;
      const pairs = await this.#request<NearDuplicate[] | null>(request);
      if (pairs) return pairs;
      await this.#load(tenant_id, kind);
    }
  }

  /** How many entries have no vector of the model. */
  async gap(tenant_id?: string, kind?: SearchKind): Promise<number> {
    if (this.#isEmbedded()) return 0;
    const of = { ...(tenant_id !== undefined && { tenant_id }), ...(kind && { kind }) };
    return this.#request({ op: "gap", ...of });
  }

  async cursor(name: string): Promise<string | null> {
    const known = this.#cursors.get(name);
    if (known) return known.value;
    if (this.#isBlank()) return null;
    const value = await this.#request<string | null>({ op: "cursor", name });
    this.#cursors.set(name, { value, savedAt: Number.NEGATIVE_INFINITY });
    return value;
  }

  /** It is kept on the disk when something was put since it last was, or a day has passed: others wake no thread. */
  async setCursor(name: string, value: string): Promise<void> {
    const now = performance.now();
    const savedAt = this.#cursors.get(name)?.savedAt ?? Number.NEGATIVE_INFINITY;
    const isDue = this.#putAt >= savedAt || now - savedAt > DAY_MS;
    if (!isDue || this.#isBlank()) {
      this.#cursors.set(name, { value, savedAt });
      return;
    }
    await this.#request({ op: "setCursor", name, value });
    this.#cursors.set(name, { value, savedAt: now });
  }

  /** Fulfils when nothing that was dropped before is in the file or its log; null without a file. */
  async scrub(): Promise<Scrubbed | null> {
    return this.#isBlank() ? null : this.#scrubber.scrub();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#thread.close();
  }
}
