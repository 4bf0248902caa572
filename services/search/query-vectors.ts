import type { Embedder } from "../../connectors/embedders/embedder.ts";

const MOST_KEPT = 2000;

/** Vectors of queries, the latest ones kept. */
export class QueryVectors {
  readonly #embedder: Embedder | null;
  readonly #kept = new Map<string, Promise<Float32Array>>();

  constructor(embedder: Embedder | null) {
    this.#embedder = embedder;
  }

  /** The query's vector, or why there is none in time. Neither when no embedder is there, or it makes nothing of it. */
  async get(query: string): Promise<{ vector: Float32Array | null; reason: string | null }> {
    if (!this.#embedder) return { vector: null, reason: null };
    const { patience } = this.#embedder;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), patience);
    });
    try {
      const vector = await Promise.race([this.#vector(this.#embedder, query), late]);
      if (!vector) return { vector, reason: `vector: the embedder did not answer within ${patience} ms` };
      return { vector: vector.some((x) => x !== 0) ? vector : null, reason: null };
    } catch {
      return { vector: null, reason: "vector: the embedder failed" };
    } finally {
      clearTimeout(timer);
    }
  }

  #vector(embedder: Embedder, query: string): Promise<Float32Array> {
    const kept = this.#kept.get(query);
    if (kept) {
      // The latest is last.
      this.#kept.delete(query);
      this.#kept.set(query, kept);
      return kept;
    }
    const vector = embedder.embedQuery(query);
    this.#kept.set(query, vector);
    vector.catch(() => this.#kept.delete(query));
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    return vector;
  }
}
