import { redirectNote } from "../../lib/http/redirect.ts";
import { type Embedder, PATIENCE_MS } from "./embedder.ts";

const BATCH = 128;
/** Overlaps the latency of a distant service, and uses the processors of a large one. */
const BATCHES_AT_ONCE = 4;
const QUERIES_AT_ONCE = 32;
const TIMEOUT_MS = 30_000;
/** About 2,000 tokens, which every model accepts. */
const MOST_CHARACTERS = 8000;
const MOST_DIMENSIONS = 8192;

interface Options {
  /** The service's `/v1`, or the full address of its `embeddings`. */
  url: string;
  model: string;
  apiKey: string | null;
}

/** Embeds with OpenAI's `/v1/embeddings` protocol, which most other services implement too. */
export class OpenAiEmbedder implements Embedder {
  readonly model: string;
  readonly batch = BATCH;
  readonly batchesAtOnce = BATCHES_AT_ONCE;
  readonly queriesAtOnce = QUERIES_AT_ONCE;
  readonly patience = PATIENCE_MS;
  readonly #options: Options;
  readonly #closing = new AbortController();

  constructor(options: Options) {
    this.#options = { ...options, url: addressOf(options.url) };
    this.model = `url ${options.model}`;
  }

  async embedQuery(text: string): Promise<Float32Array> {
    return (await this.embedTexts([text]))[0] as Float32Array;
  }

  async embedTexts(texts: string[]): Promise<Float32Array[]> {
    const { url, model, apiKey } = this.#options;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input: texts.map(shortened), encoding_format: "float" }),
      // Texts and key are for this address only.
      redirect: "manual",
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(
        `the embedder responded with ${response.status}${redirectNote(response.headers.get("location"), url)}`,
      );
    }
    return vectorsOf(await response.json(), texts.length);
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }
}

function addressOf(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/embeddings")) address.pathname = `${path || "/v1"}/embeddings`;
  return address.href;
}

/** Some services refuse an empty text. */
function shortened(text: string): string {
  return text.slice(0, MOST_CHARACTERS) || " ";
}

function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count)
    throw new Error(
      `the embedder returned ${Array.isArray(data) ? data.length : "no"} vectors for ${count} texts`,
    );
  const vectors: Float32Array[] = new Array(count);
  data.forEach(({ index, embedding }: { index?: number; embedding?: unknown }, i) => {
    vectors[index ?? i] = vectorOf(embedding);
  });
  const dims = vectors[0]?.length;
  for (let i = 0; i < count; i++)
    if (vectors[i]?.length !== dims) throw new Error("the embedder returned vectors of different lengths");
  return vectors;
}

function vectorOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > MOST_DIMENSIONS)
    throw new Error(`the embedder returned a vector without 1 to ${MOST_DIMENSIONS} numbers`);
  const vector = Float32Array.from(embedding as number[]);
  if (!vector.every(Number.isFinite))
    throw new Error("the embedder returned a vector with a value that is not a number");
  return vector;
}
