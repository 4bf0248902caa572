import type { Embedder } from "../../../connectors/embedders/embedder.ts";

/** Unrelated sentences. */
const UNRELATED = [
  "The ferry to the island leaves at seven.",
  "Interest rates were raised by a quarter of a percent.",
  "Boil the potatoes until they are soft.",
  "The patient's blood pressure is back to normal.",
  "Our team lost the final in overtime.",
  "Restart the server after changing its certificate.",
  "Owls hunt at night.",
  "The cathedral was built in the twelfth century.",
];

/** The value for the bundled embedder. */
export const USUAL_BASELINE = 0.14;

/**
 * Measures the cosine of unrelated texts: 0.1 for some embedders, 0.6 for others. A cosine is meaningful only by how
 * far it exceeds that.
 */
export class CosineBaseline {
  readonly #embedder: Embedder | null;
  #value = USUAL_BASELINE;
  #isAsked = false;

  constructor(embedder: Embedder | null) {
    this.#embedder = embedder;
  }

  /**
   * Returns the current value. The first call starts the measurement in the background; after a failure the next call
   * does.
   */
  get(): number {
    if (this.#embedder && !this.#isAsked) void this.#measure(this.#embedder);
    return this.#value;
  }

  async #measure(embedder: Embedder): Promise<void> {
    this.#isAsked = true;
    try {
      const vectors = await embedder.embedTexts(UNRELATED);
      // An embedder may make nothing of a text.
      this.#value = meanCosine(vectors.filter((vector) => vector.some((x) => x !== 0)));
    } catch {
      this.#isAsked = false;
    }
  }
}

/** Returns the mean cosine over all pairs, from 0 to 0.9. */
function meanCosine(vectors: readonly Float32Array[]): number {
  const cosines = vectors.flatMap((a, i) => vectors.slice(0, i).map((b) => cosine(a, b)));
  const mean = cosines.reduce((sum, each) => sum + each, 0) / cosines.length;
  return Math.min(0.9, Math.max(0, mean)) || 0;
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, each, i) => sum + each * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
