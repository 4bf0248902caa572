import { Binary } from "mongodb";
import type { Embedder } from "../../../connectors/embedders/embedder.ts";
import { upToSize } from "../../../lib/broker/between-nodes.ts";
import { asBackground } from "../../../lib/queue/work.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { SearchKind } from "../../../storage/search/entry.ts";
import { ErasedIds } from "../../../storage/search/erased-ids.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import type { NearDuplicate, Unembedded, VectorRow } from "../../../storage/search/protocol.ts";
import { type EmbeddingDoc, embeddingId } from "./search.model.ts";

/** Cosine by the bundled embedder from which two entries are near duplicates (api: Memories). */
export const NEAR_DUPLICATE = 0.95;
/** Comparisons with all of a tenant's vectors that a concurrent search may have to wait for. */
const LOOKED_AT_ONCE = 2;
/** Maximum texts of one tenant per step, which bounds memory and the wait of others. */
const STEP = 128;
/** Order in which a tenant's kinds take turns: a few memories do not wait for many documents. */
export const KINDS: readonly SearchKind[] = ["memory", "handoff", "output", "chunk"];
/** Assumed average length of a step's texts: with longer ones a step has fewer. */
const TEXT_CHARACTERS = 500;
/** After this much work the backlog briefly pauses if there were searches a moment ago. */
const WORK_MS = 500;
const QUIET_MS = 100;
const MOST_WAIT_MS = 2000;

interface Dependencies {
  index: SearchIndex;
  store: EmbeddingStore;
  embedder: Embedder;
  /** Whether this node computes the tenant's vectors. */
  owns(tenant_id: string): boolean;
  /** Time of the last search, on the clock of `performance.now()`. */
  searchedAt(): number;
  /** The embedder's cosine from which two entries are near duplicates. */
  nearDuplicate(): Promise<number>;
  propose(tenant_id: string, duplicates: NearDuplicate[]): Promise<void>;
  /** Called with a text that the embedder refused, and how many characters of it have a vector. */
  refused(text: Unembedded, kept: number): void;
  /** Called with the number of new vectors. */
  made(count: number): void;
}

/** Computes missing vectors, in steps between which searches go first. */
export class EmbeddingWork {
  readonly #deps: Dependencies;
  /** The tenant served last: the next run continues after it. */
  #last = "";
  readonly #erased = new ErasedIds();
  #saving: Promise<unknown> = Promise.resolve();
  /** Proposals are made one batch after the other: each counts those before. */
  #proposing: Promise<unknown> = Promise.resolve();
  #stopped = false;
  /** When to pause for searches next, on the clock of `performance.now()`. */
  #pauseAt = 0;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Resolves when no vector of these texts, or of any of the tenant's, can be written any more. */
  async forget(tenant_id: string, kind?: SearchKind, ids: readonly string[] = []): Promise<void> {
    if (kind === undefined) this.#erased.addTenant(tenant_id);
    else this.#erased.add(tenant_id, kind, ids);
    await this.#saving;
  }

  /**
   * Computes all missing vectors in rounds: one step of each tenant, alternating its kinds. Skips a tenant whose step
   * fails until the next run. After several failures in a row, which tenants do not cause, throws the error.
   */
  async run(): Promise<void> {
    const pass = new Pass();
    for (let round = 0; !this.#stopped; round++) {
      const waiting = pass.open(await this.#deps.index.waiting());
      if (waiting.length === 0) break;
      for (const tenant_id of fromNext(waiting, this.#last)) {
        if (this.#stopped) return;
        this.#last = tenant_id;
        const step = () => this.#step(tenant_id, round, pass);
        await asBackground(tenant_id, "embedding", step).then(pass.succeeded, (err) =>
          pass.failed(tenant_id, err),
        );
      }
    }
    pass.end();
  }

  async #step(tenant_id: string, round: number, pass: Pass): Promise<void> {
    const { index, embedder } = this.#deps;
    const limit = Math.min(STEP, embedder.batch * embedder.batchesAtOnce);
    for (let i = 0; i < KINDS.length; i++) {
      const kind = KINDS[(round + i) % KINDS.length] as SearchKind;
      const some = await index.unembedded(limit, pass.skipOf(tenant_id, kind), { tenant_id, kind });
      if (some.length === 0) continue;
      const texts = upToSize(some, ({ text }) => text.length, limit * TEXT_CHARACTERS);
      pass.skip(tenant_id, kind, texts.length - (await this.#tenant(texts)));
      return;
    }
    pass.close(tenant_id);
  }

  /** Returns how many of the texts have their vector now. */
  async #tenant(texts: Unembedded[]): Promise<number> {
    const { index, store, embedder, owns } = this.#deps;
    const known = await store.find(embedder.model, texts);
    let set = known.length ? await index.setVectors(embedder.model, known) : 0;
    const tenant_id = (texts[0] as Unembedded).tenant_id;
    if (!owns(tenant_id)) return set;
    const have = new Set(known.map(({ kind, id }) => `${kind} ${id}`));
    const missing = texts.filter(({ kind, id }) => !have.has(`${kind} ${id}`));
    const batches: Unembedded[][] = [];
    for (let from = 0; from < missing.length; from += embedder.batch)
      batches.push(missing.slice(from, from + embedder.batch));
    for (let from = 0; from < batches.length && !this.#stopped; from += embedder.batchesAtOnce) {
      const some = batches.slice(from, from + embedder.batchesAtOnce);
      for (const made of await Promise.all(some.map((batch) => this.#make(batch)))) set += made;
    }
    return set;
  }

  async #make(texts: Unembedded[]): Promise<number> {
    const { index, embedder, made, refused } = this.#deps;
    await this.#letSearchesPass();
    const vectors = await embedder.embedTexts(
      texts.map(({ text }) => text),
      (index, kept) => refused(texts[index] as Unembedded, kept),
    );
    const rows = await this.#save(texts, vectors);
    if (rows.length === 0) return 0;
    const set = await index.setVectors(embedder.model, [...rows]);
    made(set);
    await this.#proposeDuplicates(rows);
    return set;
  }

  /** Saves and returns the vectors of texts that were not erased meanwhile. */
  async #save(texts: Unembedded[], vectors: Float32Array[]): Promise<readonly VectorRow[]> {
    const { store, embedder } = this.#deps;
    await this.#requireDimensions(vectors[0]);
    const all = texts.map(
      ({ text: _, ...of }, i): VectorRow => ({ ...of, vector: vectors[i] as Float32Array }),
    );
    const rows = this.#erased.without((texts[0] as Unembedded).tenant_id, all);
    const saving = store.save(embedder.model, rows);
    // Erasures wait for all pending saves (`forget`).
    this.#saving = Promise.allSettled([this.#saving, saving]);
    await saving;
    return rows;
  }

  async #requireDimensions(vector: Float32Array | undefined): Promise<void> {
    const { index, embedder } = this.#deps;
    const dims = (await index.useModel(embedder.model))?.dims ?? null;
    const length = vector?.length;
    if (dims !== null && dims !== length)
      throw new Error(`the embedder returned ${length} components, but ${embedder.model} had ${dims} before`);
  }

  async #proposeDuplicates(rows: readonly VectorRow[]): Promise<void> {
    const { index } = this.#deps;
    const memories = rows.filter(({ kind }) => kind === "memory").map(({ id }) => id);
    if (memories.length === 0) return;
    const { tenant_id } = rows[0] as VectorRow;
    const least = await this.#deps.nearDuplicate();
    const duplicates: NearDuplicate[] = [];
    for (let from = 0; from < memories.length && !this.#stopped; from += LOOKED_AT_ONCE) {
      const some = memories.slice(from, from + LOOKED_AT_ONCE);
      duplicates.push(...(await index.nearDuplicates(tenant_id, "memory", some, least)));
    }
    if (duplicates.length > 0) await this.#propose(tenant_id, duplicates);
  }

  #propose(tenant_id: string, duplicates: NearDuplicate[]): Promise<void> {
    const propose = () => this.#deps.propose(tenant_id, duplicates);
    const proposed = this.#proposing.then(propose);
    this.#proposing = proposed.catch(() => {});
    return proposed;
  }

  async #letSearchesPass(): Promise<void> {
    if (performance.now() < this.#pauseAt) return;
    const until = performance.now() + MOST_WAIT_MS;
    const isBusy = () => performance.now() - this.#deps.searchedAt() < QUIET_MS;
    while (isBusy() && performance.now() < until && !this.#stopped)
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 4));
    this.#pauseAt = performance.now() + WORK_MS;
  }
}

/** This many failures in a row mean that the embedder or the store fails, not a tenant. */
const MOST_IN_A_ROW = 3;

/** State of a run over all entries without vectors. */
class Pass {
  readonly #skips = new Map<string, number>();
  readonly #closed = new Set<string>();
  readonly #failures: unknown[] = [];
  #inARow = 0;

  /** Returns the tenants that this run has not finished. */
  open(tenants: readonly string[]): string[] {
    return tenants.filter((tenant_id) => !this.#closed.has(tenant_id));
  }

  /** Marks a tenant as finished: nothing is left that this node computes. */
  close(tenant_id: string): void {
    this.#closed.add(tenant_id);
  }

  /** Returns how many texts to skip: other nodes compute their vectors, or they changed meanwhile. */
  skipOf(tenant_id: string, kind: SearchKind): number {
    return this.#skips.get(`${tenant_id} ${kind}`) ?? 0;
  }

  skip(tenant_id: string, kind: SearchKind, more: number): void {
    if (more > 0) this.#skips.set(`${tenant_id} ${kind}`, this.skipOf(tenant_id, kind) + more);
  }

  succeeded = (): void => {
    this.#inARow = 0;
  };

  /** @throws the first failure if the tenant is probably not the cause */
  failed(tenant_id: string, err: unknown): void {
    this.#closed.add(tenant_id);
    this.#failures.push(err);
    this.#inARow++;
    if (this.#inARow >= MOST_IN_A_ROW) this.end();
  }

  /** @throws the first failure, if there was one */
  end(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}

/** Sorts tenants and rotates them, so that those after `last` come first. */
function fromNext(tenants: readonly string[], last: string): string[] {
  const sorted = tenants.toSorted();
  const at = sorted.findIndex((tenant_id) => tenant_id > last);
  return at < 0 ? sorted : [...sorted.slice(at), ...sorted.slice(0, at)];
}

/** Stores the vectors of a tenant's texts in the record. */
export class EmbeddingStore {
  readonly #embeddings: TenantCollection<EmbeddingDoc>;
  readonly #now: () => number;

  constructor(embeddings: TenantCollection<EmbeddingDoc>, now: () => number) {
    this.#embeddings = embeddings;
    this.#now = now;
  }

  /** Returns the vectors that the model has computed of these texts, which all belong to one tenant. */
  async find(model: string, texts: readonly Unembedded[]): Promise<VectorRow[]> {
    const [first] = texts;
    if (!first) return [];
    const ids = texts.map(({ kind, id }) => embeddingId(kind, id));
    const rows = await this.#embeddings.find(first.tenant_id, { _id: { $in: ids }, model });
    const byId = new Map(rows.map((row) => [row._id, row]));
    return texts.flatMap(({ text: _, ...of }) => {
      const row = byId.get(embeddingId(of.kind, of.id));
      return row?.hash === of.hash ? [{ ...of, vector: toFloats(row.vector) }] : [];
    });
  }

  async save(model: string, rows: readonly VectorRow[]): Promise<void> {
    if (rows.length === 0) return;
    const created_at = new Date(this.#now());
    await this.#embeddings.upsert(
      rows.map(({ tenant_id, kind, id, hash, vector }) => ({
        filter: { _id: embeddingId(kind, id), tenant_id },
        update: { $set: { kind, model, hash, vector: toBinary(vector), created_at } },
      })),
    );
  }

  /** Deletes vectors; returns how many there were. */
  erase(tenant_id: string, kind: SearchKind, ids: readonly string[]): Promise<number> {
    const _id = { $in: ids.map((id) => embeddingId(kind, id)) };
    return this.#embeddings.deleteMany(tenant_id, { _id });
  }
}

function toBinary({ buffer, byteOffset, byteLength }: Float32Array): Binary {
  return new Binary(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
}

function toFloats(vector: Binary): Float32Array {
  const bytes = vector.value();
  // Copied: floats must be aligned to four bytes.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
