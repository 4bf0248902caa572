import { readText } from "../../lib/http/content-encoding.ts";
import { redirectNote } from "../../lib/http/redirect.ts";
import { beginningOf } from "../../lib/text/code-points.ts";

interface Options {
  /** The service's address, or the full address of its `rerank`. */
  url: string;
  model: string | null;
  apiKey: string | null;
  timeoutMs: number;
}

const MOST_QUERY_CHARACTERS = 2000;
/** Some services repeat the texts, 50 of 2000 characters, in their answer. */
const MOST_BYTES = 4_000_000;

/** A service that reads `texts` refuses `documents`, as something is missing. */
const REFUSED = new Set([400, 422]);

type Form = "documents" | "texts";

/** A rated text in the answer: Jina, Cohere, vLLM and llama.cpp, or text-embeddings-inference. */
interface Rated {
  index?: unknown;
  relevance_score?: unknown;
  score?: unknown;
}

/**
 * Rates how well texts answer a query. Asks a service for `/rerank`: `{query, documents}` as Jina, Cohere, vLLM and llama.cpp read it, else `{query, texts}`
 * as text-embeddings-inference does. The first answer decides.
 */
export class HttpReranker {
  /** How long a search waits for it, in milliseconds. */
  readonly patience: number;
  readonly #options: Options;
  #form: Form = "documents";
  #isKnown = false;

  constructor(options: Options) {
    this.#options = { ...options, url: addressOf(options.url) };
    this.patience = options.timeoutMs;
  }

  /** Returns the relevance of each text, 0..1. @throws Error if the service does not answer in time, or wrongly */
  async rate(query: string, texts: readonly string[]): Promise<number[]> {
    const signal = AbortSignal.timeout(this.patience);
    const form = this.#form;
    let response = await this.#request(form, query, texts, signal);
    if (!this.#isKnown && form === "documents" && REFUSED.has(response.status)) {
      await response.body?.cancel();
      response = await this.#request("texts", query, texts, signal);
      if (response.ok) this.#form = "texts";
    }
    const { status, headers } = response;
    if (!response.ok) {
      await response.body?.cancel();
      const note = redirectNote(headers.get("location"), this.#options.url);
      throw new Error(`the reranker responded with ${status}${note}`);
    }
    const answer = JSON.parse(await readText(response.body ?? [], MOST_BYTES, tooLarge));
    const rated = ratingsOf(answer, texts.length);
    this.#isKnown = true;
    return rated;
  }

  #request(form: Form, query: string, texts: readonly string[], signal: AbortSignal): Promise<Response> {
    const { url, model, apiKey } = this.#options;
    const list = texts.map((text) => text.toWellFormed() || " ");
    return fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        query: beginningOf(query.toWellFormed(), MOST_QUERY_CHARACTERS),
        ...(form === "documents"
          ? { documents: list, top_n: list.length, ...(model !== null && { model }) }
          : { texts: list, truncate: true }),
      }),
      // Texts and key are for this address only.
      redirect: "manual",
      signal,
    });
  }
}

function addressOf(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, "");
  if (!/\/(rerank|reranking)$/.test(path)) address.pathname = `${path}/rerank`;
  return address.href;
}

const tooLarge = (what: string) => new Error(`the reranker's answer is too large: ${what}`);

function ratingsOf(answer: unknown, count: number): number[] {
  const rated = Array.isArray(answer) ? answer : (answer as { results?: unknown } | null)?.results;
  if (!Array.isArray(rated)) throw new Error("the reranker returned no ratings");
  const scores = new Array<number>(count).fill(Number.NaN);
  for (const { index, relevance_score, score } of rated as Rated[])
    if (Number.isInteger(index)) scores[index as number] = Number(relevance_score ?? score);
  if (scores.length !== count || !scores.every(Number.isFinite))
    throw new Error(`the reranker did not rate each of ${count} texts`);
  // Some services return the model's raw numbers.
  return scores.every((each) => each >= 0 && each <= 1)
    ? scores
    : scores.map((each) => 1 / (1 + Math.exp(-each)));
}
