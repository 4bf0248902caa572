import { beginningOf } from "../../lib/text/code-points.ts";
import { type Embedder, PATIENCE_MS } from "./embedder.ts";

/** A model embeds a few short texts together faster than one after the other. */
const QUERIES_AT_ONCE = 8;
/** After this many queries in a row pieces of texts are embedded once. */
const QUERIES_BETWEEN_TEXTS = 16;
const BATCH = 32;
/** While one batch is saved and compared, the next is embedded. */
const BATCHES_AT_ONCE = 2;

export type Vectors = { vectors: Float32Array[] } | { failed: string };

/** Computes vectors outside of this thread, one request at a time. */
export interface Encoder {
  readonly model: string;
  /** Whether it runs and has answered before. */
  readonly isWarm: boolean;
  /** How long a query may wait for its first answer, and for others, in milliseconds. */
  readonly patience: { cold: number; warm?: number };
  /** Starts it if it does not run. @throws Error if it ends before it answers */
  request(texts: string[], kind: "query" | "text"): Promise<Vectors>;
  close(): Promise<void>;
}

interface Job {
  text: string;
  resolve(vector: Float32Array): void;
  reject(err: Error): void;
}

/** Embeds with a model on this machine. Queries go first and together; texts go between them, in pieces. */
export class QueuedEmbedder implements Embedder {
  readonly model: string;
  readonly batch = BATCH;
  readonly batchesAtOnce = BATCHES_AT_ONCE;
  readonly queriesAtOnce = QUERIES_AT_ONCE;
  readonly #encoder: Encoder;
  #running: Job[] | null = null;
  #urgent: Job[] = [];
  #patient: Job[] = [];
  /** Queries since a text was last embedded. */
  #passed = 0;
  #isClosed = false;

  constructor(encoder: Encoder) {
    this.model = encoder.model;
    this.#encoder = encoder;
  }

  get patience(): number {
    const { isWarm, patience } = this.#encoder;
    return isWarm ? (patience.warm ?? PATIENCE_MS) : patience.cold;
  }

  async embedQuery(text: string): Promise<Float32Array> {
    const [first = ""] = splitText(text);
    return this.#add(this.#urgent, first);
  }

  async embedTexts(texts: string[]): Promise<Float32Array[]> {
    const embedded = texts.map(async (text) => {
      const parts = splitText(text).map((part) => this.#add(this.#patient, part));
      return averageOf(await Promise.all(parts));
    });
    return Promise.all(embedded);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#encoder.close();
  }

  #add(queue: Job[], text: string): Promise<Float32Array> {
    if (this.#isClosed) return Promise.reject(new Error("the embedder is closed"));
    return new Promise((resolve, reject) => {
      queue.push({ text, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running) return;
    const kind = this.#isTextsTurn() ? "text" : "query";
    const jobs = kind === "text" ? this.#takePieces() : this.#takeQueries();
    if (jobs.length === 0) return;
    this.#running = jobs;
    const texts = jobs.map(({ text }) => text);
    this.#encoder
      .request(texts, kind)
      .then(
        (answer) => this.#settle(jobs, answer),
        (err) => this.#refuse([...jobs, ...this.#urgent.splice(0), ...this.#patient.splice(0)], err),
      )
      .then(() => {
        this.#running = null;
        this.#next();
      });
  }

  /** Queries go first, but let a text pass now and then during an endless stream of them. */
  #isTextsTurn(): boolean {
    return this.#urgent.length === 0 || (this.#passed >= QUERIES_BETWEEN_TEXTS && this.#patient.length > 0);
  }

  #takeQueries(): Job[] {
    const queries = this.#urgent.splice(0, QUERIES_AT_ONCE);
    this.#passed += queries.length;
    return queries;
  }

  /** Takes pieces that are no longer together than one may be: a query waits for no more than that. */
  #takePieces(): Job[] {
    this.#passed = 0;
    let characters = 0;
    const tooMany = this.#patient.findIndex(({ text }) => {
      characters += text.length;
      return characters > PART;
    });
    return this.#patient.splice(0, tooMany < 0 ? this.#patient.length : Math.max(1, tooMany));
  }

  #settle(jobs: Job[], answer: Vectors): void {
    if ("failed" in answer) this.#refuse(jobs, new Error(answer.failed));
    else for (const [i, { resolve }] of jobs.entries()) resolve(answer.vectors[i] as Float32Array);
  }

  #refuse(jobs: Job[], err: Error): void {
    for (const { reject } of jobs) reject(err);
  }
}

/** Most characters of a part. The model's time grows with the length of a text, and it keeps little of a long one. */
const PART = 500;
/** Only this many parts of a text count. */
const MAX_PARTS = 6;

/** Cuts a text into parts at word boundaries; an empty text is one empty part. */
export function splitText(text: string): string[] {
  const parts: string[] = [];
  let rest = text.replace(/\s+/g, " ").trim();
  while (rest.length > PART && parts.length < MAX_PARTS - 1) {
    const end = rest.lastIndexOf(" ", PART);
    const part = end > PART / 2 ? rest.slice(0, end) : beginningOf(rest, PART);
    parts.push(part);
    rest = rest.slice(part.length).trimStart();
  }
  return [...parts, beginningOf(rest, PART)];
}

/** Returns the unit-length mean of unit vectors. */
export function averageOf(vectors: readonly Float32Array[]): Float32Array {
  const first = vectors[0] as Float32Array;
  if (vectors.length === 1) return first;
  return first.map(
    (_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0) / vectors.length,
  );
}
