import { redirectNote } from "../../lib/http/redirect.ts";
import { beginningOf } from "../../lib/text/code-points.ts";
import { type Embedder, PATIENCE_MS, type RefusedText } from "./embedder.ts";

const BATCH = 128;
/** Overlaps the latency of a distant service, and uses the processors of a large one. */
const BATCHES_AT_ONCE = 4;
const QUERIES_AT_ONCE = 32;
const TIMEOUT_MS = 30_000;
/** About 2,000 tokens, which every model accepts. */
const MOST_CHARACTERS = 8000;
/** A text that is refused even at this length is set aside. */
const LEAST_CHARACTERS = 32;
const MOST_DIMENSIONS = 8192;
/** A text that every model accepts: tells refused texts from a service that refuses everything. */
const PROBE = "text";
/** Statuses of the service as a whole, not of one request's texts. */
const NOT_OF_TEXTS = new Set([401, 402, 403, 404, 405, 407, 408, 429, 502, 503, 504]);

interface Options {
  /** The service's `/v1`, or the full address of its `embeddings`. */
  url: string;
  model: string;
  apiKey: string | null;
  /** Prefixes that the model expects for a query, and for a text: `query: ` and `passage: ` for e5. */
  queryPrefix?: string | null;
  textPrefix?: string | null;
  /** Components to ask for; null: the model's own number. */
  dimensions?: number | null;
}

/** The service did not compute the vectors of these texts; it may compute others'. */
class TextsRefused extends Error {}

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
    const { model, queryPrefix, textPrefix, dimensions } = options;
    const others = [queryPrefix, textPrefix, dimensions].some(Boolean);
    this.model = `url ${model}${others ? ` ${JSON.stringify([queryPrefix, textPrefix, dimensions])}` : ""}`;
  }

  async embedQuery(text: string): Promise<Float32Array> {
    const query = prefixed(this.#options.queryPrefix, text);
    return (await this.#embed([query]))[0] as Float32Array;
  }

  embedTexts(texts: string[], report?: RefusedText): Promise<Float32Array[]> {
    return this.#embed(
      texts.map((text) => prefixed(this.#options.textPrefix, text)),
      report,
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  async #embed(texts: string[], report?: RefusedText): Promise<Float32Array[]> {
    try {
      return await this.#request(texts);
    } catch (err) {
      if (!(err instanceof TextsRefused)) throw err;
      const [probe] = await this.#request([PROBE]).catch(() => []);
      if (!probe) throw err;
      return this.#split(texts, probe.length, report);
    }
  }

  /** Embeds refused texts in ever smaller requests, so that those that are accepted do not wait for the others. */
  async #split(texts: string[], dims: number, report?: RefusedText, first = 0): Promise<Float32Array[]> {
    const half = Math.ceil(texts.length / 2);
    if (texts.length === 1)
      return [await this.#shorten(texts[0] as string, dims, (kept) => report?.(first, kept))];
    const vectors: Float32Array[] = [];
    for (const from of [0, half]) {
      const some = texts.slice(from, from + half);
      const made = await this.#request(some).catch(passRefusal);
      vectors.push(...(made ?? (await this.#split(some, dims, report, first + from))));
    }
    return vectors;
  }

  /** Returns the vector of as much of a text as is accepted; zeros if nothing is. */
  async #shorten(text: string, dims: number, report: (kept: number) => void): Promise<Float32Array> {
    for (let length = text.length >> 1; length >= LEAST_CHARACTERS; length >>= 1) {
      const shorter = beginningOf(text, length);
      const [vector] = (await this.#request([shorter]).catch(passRefusal)) ?? [];
      if (!vector) continue;
      report(shorter.length);
      return vector;
    }
    report(0);
    return new Float32Array(dims);
  }

  async #request(input: string[]): Promise<Float32Array[]> {
    const { url, model, apiKey, dimensions } = this.#options;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, input, encoding_format: "float", ...(dimensions && { dimensions }) }),
      // Texts and key are for this address only.
      redirect: "manual",
      signal: AbortSignal.any([this.#closing.signal, timeout]),
    }).catch((err) => {
      throw timeout.aborted ? new TextsRefused(`the embedder did not answer within ${TIMEOUT_MS} ms`) : err;
    });
    if (!response.ok) {
      await response.body?.cancel();
      const { status, headers } = response;
      const message = `the embedder responded with ${status}${redirectNote(headers.get("location"), url)}`;
      throw status < 400 || NOT_OF_TEXTS.has(status) ? new Error(message) : new TextsRefused(message);
    }
    return vectorsOf(await response.json(), input.length);
  }
}

/** @throws any other error */
function passRefusal(err: unknown): null {
  if (err instanceof TextsRefused) return null;
  throw err;
}

function addressOf(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, "");
  if (!path.endsWith("/embeddings")) address.pathname = `${path || "/v1"}/embeddings`;
  return address.href;
}

/** Some services refuse an empty text, or half a character. */
function prefixed(prefix: string | null | undefined, text: string): string {
  return `${prefix ?? ""}${beginningOf(text.toWellFormed(), MOST_CHARACTERS)}` || " ";
}

function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count)
    throw new TextsRefused(
      `the embedder returned ${Array.isArray(data) ? data.length : "no"} vectors for ${count} texts`,
    );
  const vectors: Float32Array[] = new Array(count);
  data.forEach(({ index, embedding }: { index?: number; embedding?: unknown }, i) => {
    vectors[index ?? i] = vectorOf(embedding);
  });
  const dims = vectors[0]?.length;
  for (let i = 0; i < count; i++)
    if (vectors[i]?.length !== dims)
      throw new TextsRefused("the embedder returned vectors of different lengths");
  return vectors;
}

function vectorOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || embedding.length === 0 || embedding.length > MOST_DIMENSIONS)
    throw new TextsRefused(`the embedder returned a vector without 1 to ${MOST_DIMENSIONS} numbers`);
  const vector = Float32Array.from(embedding as number[]);
  if (!vector.every(Number.isFinite))
    throw new TextsRefused("the embedder returned a vector with a value that is not a number");
  return vector;
}
