import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SearchEntry, SearchKind } from "../../lib/search-entry.ts";
import { Channel } from "../sqlite/channel.ts";
import { type PackedCandidates, unpackCandidates } from "./candidates.ts";
import type { Model } from "./file.ts";
import type {
  LegsAnswer,
  LegsQuery,
  NearDuplicate,
  SearchRequest,
  Unembedded,
  VectorRow,
} from "./protocol.ts";

const FILE = "search.db";
const CODE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/afferent/code", import.meta.url));
/** What search asks an index for: the local one of a node, or the one of Atlas. */
export type SearchIndex = Omit<LocalIndex, "pending">;

/** What is put travels in parts, so that no search waits long behind it. */
const PART = 50;

/** So long a search waits until all of its tenant is loaded. */
const LOAD_PATIENCE_MS = 5000;

type PackedAnswer = LegsAnswer<PackedCandidates>;

/**
 * The index of a node in a thread of its own: words and vectors of all tenants in `DATA_DIR/search.db`, and in memory
 * those that are being asked. It is derived from the store, and made anew when it cannot be used.
 */
export class LocalIndex {
  readonly #channel: Channel<SearchRequest>;
  readonly #loading = new Map<string, Promise<void>>();

  /** @param onDeath is told when the thread fails: it answers nothing more */
  constructor(dataDir: string, onDeath: (error: Error) => void) {
    const entry = new URL("./worker.ts", import.meta.url).href;
    const settings = { file: join(dataDir, FILE), cache: CODE_CACHE, entry };
    this.#channel = new Channel(settings, ({ message }) => new Error(message), onDeath);
  }

  /** Rejects with the reason when it cannot be used. */
  ready(): Promise<void> {
    return this.#channel.ready();
  }

  /** Fulfils when all can be found. An older version never replaces a newer one. */
  async put(tenant_id: string, entries: readonly SearchEntry[]): Promise<void> {
    for (let from = 0; from < entries.length; from += PART)
      await this.#channel.request({ op: "put", tenant_id, entries: entries.slice(from, from + PART) });
  }

  /** Erases entries with all that is known of them; gives how many there were. */
  drop(tenant_id: string, kind: SearchKind, ids: string[]): Promise<{ entries: number; vectors: number }> {
    return this.#channel.request({ op: "drop", tenant_id, kind, ids });
  }

  dropTenant(tenant_id: string): Promise<void> {
    return this.#channel.request({ op: "dropTenant", tenant_id });
  }

  /**
   * What both legs bring. A vector of other dimensions than the model's is as none. A tenant whose turn it has not been
   * for long is loaded first, others going on meanwhile; of one that takes very long what is there is brought.
   */
  async legs(query: LegsQuery): Promise<LegsAnswer> {
    const find = { op: "find", query } as const;
    const answer =
      (await this.#channel.request<PackedAnswer | null>(find)) ?? (await this.#legsWhenLoaded(query));
    return { ...answer, candidates: unpackCandidates(answer.candidates) };
  }

  async #legsWhenLoaded(query: LegsQuery): Promise<PackedAnswer> {
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([
      this.#load(query.tenant_id, query.kind),
      setTimeout(LOAD_PATIENCE_MS, undefined, { signal }).catch(() => {}),
    ]).finally(() => patience.abort());
    return this.#channel.request<PackedAnswer>({ op: "find", query, partial: true });
  }

  /** Loads a tenant, slice by slice, once for all that wait for it. */
  #load(tenant_id: string, kind: SearchKind): Promise<void> {
    const key = `${tenant_id} ${kind}`;
    const load = async () => {
      while (!(await this.#channel.request<boolean>({ op: "load", tenant_id, kind })));
    };
    const loading = this.#loading.get(key) ?? load().finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    // Who waited only for a part hears nothing of its end.
    loading.catch(() => {});
    return loading;
  }

  /** Vectors of any other model do not count from now on. Null: no vectors. */
  useModel(model: string | null): Promise<Model | null> {
    return this.#channel.request({ op: "useModel", model });
  }

  /** Some of the entries that have no vector of the model yet, after leaving out the first `skip`. */
  unembedded(limit: number, skip = 0): Promise<Unembedded[]> {
    return this.#channel.request({ op: "unembedded", limit, skip });
  }

  /** Sets vectors of texts that are still there; gives how many those were. */
  setVectors(model: string, rows: VectorRow[]): Promise<number> {
    return this.#channel.request({ op: "setVectors", model, rows });
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
      const pairs = await this.#channel.request<NearDuplicate[] | null>(request);
      if (pairs) return pairs;
      await this.#load(tenant_id, kind);
    }
  }

  /** How many entries have no vector of the model. */
  gap(tenant_id?: string, kind?: SearchKind): Promise<number> {
    const of = { ...(tenant_id !== undefined && { tenant_id }), ...(kind && { kind }) };
    return this.#channel.request({ op: "gap", ...of });
  }

  cursor(name: string): Promise<string | null> {
    return this.#channel.request({ op: "cursor", name });
  }

  setCursor(name: string, value: string): Promise<void> {
    return this.#channel.request({ op: "setCursor", name, value });
  }

  /** Requests that wait for their answer. */
  get pending(): number {
    return this.#channel.pending;
  }

  close(): Promise<void> {
    return this.#channel.close();
  }
}
