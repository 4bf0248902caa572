import { setTimeout } from "node:timers/promises";
import type { Embedder } from "../../../connectors/embedders/embedder.ts";
import { isFault } from "../../../lib/contract/faults.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import type { FairQueue, Share } from "../../../lib/queue/fair-queue.ts";
import { PER_TENANT } from "../../outgoing.ts";

const MOST_KEPT = 2000;
/** Queries up to this length count as one: an embedder's time grows with the text. */
const SHORT_CHARACTERS = 80;

/** A query's pending vector; null: nobody was waiting any more when it was due. */
type Vector = Promise<Float32Array | null>;

/** Computes the vectors of queries and caches the latest. Shares the embedder among callers. */
export class QueryVectors {
  readonly #embedder: Embedder | null;
  readonly #queue: FairQueue;
  /** Concurrent queries of one tenant: leaves a part for another. */
  readonly #perTenant: number;
  readonly #cost: number;
  readonly #kept = new LruMap<string, Vector>(MOST_KEPT);

  constructor(embedder: Embedder | null, queue: FairQueue) {
    this.#embedder = embedder;
    this.#queue = queue;
    this.#perTenant = Math.ceil((embedder?.queriesAtOnce ?? 1) * 0.75);
    this.#cost = Math.floor(PER_TENANT / this.#perTenant);
  }

  /**
   * Returns the query's vector, or why it is not available in time. Neither without an embedder, or if it returns
   * nothing.
   */
  async get(query: string, share: Share): Promise<{ vector: Float32Array | null; reason: string | null }> {
    if (!this.#embedder) return { vector: null, reason: null };
    const { patience } = this.#embedder;
    const waiting = new AbortController();
    const { signal } = waiting;
    const late = setTimeout(patience, null, { signal }).catch(() => null);
    try {
      const vector = await Promise.race([this.#vector(this.#embedder, query, share, signal), late]);
      if (!vector) return { vector, reason: `vector: the embedder did not answer within ${patience} ms` };
      return { vector: vector.some((x) => x !== 0) ? vector : null, reason: null };
    } catch (err) {
      if (isFault(err))
        return { vector: null, reason: "vector: too many of your queries are waiting for the embedder" };
      return { vector: null, reason: "vector: the embedder failed" };
    } finally {
      waiting.abort();
    }
  }

  #vector(embedder: Embedder, query: string, share: Share, waiting: AbortSignal): Vector {
    // Per tenant: nobody waits in another tenant's queue, or learns its queries.
    const key = `${share.tenant_id} ${query}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const forget = () => this.#kept.delete(key);
    const cost = this.#cost * Math.min(this.#perTenant, Math.ceil(query.length / SHORT_CHARACTERS));
    const embed = () => (waiting.aborted ? null : embedder.embedQuery(query));
    const vector = this.#queue.run(share, cost, embed, { queued: 1, reserved: true });
    this.#kept.set(key, vector);
    vector.then((made) => made ?? forget(), forget);
    return vector;
  }
}
