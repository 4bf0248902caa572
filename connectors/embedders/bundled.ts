import { WorkerThread } from "../../lib/worker-thread.ts";
import { type Embedder, PATIENCE_MS } from "./embedder.ts";
import { averageOf, splitText } from "./split-text.ts";

/** The model embeds a few short texts together faster than one after the other. */
const QUERIES_AT_ONCE = 8;
/** After this many queries in a row one piece of a text is embedded, and a query waits for no more than that. */
const QUERIES_BETWEEN_TEXTS = 16;
const BATCH = 16;
/** Loading the model takes no longer even on a slow machine; only the first query after a pause waits for it. */
const COLD_PATIENCE_MS = 1500;
/** Ends the thread after this long without work: with the model it takes 60 MB. */
const IDLE_MS = 600_000;

type Answer = { vectors: Float32Array[] } | { failed: string };

interface Job {
  texts: string[];
  resolve(vectors: Float32Array[]): void;
  reject(err: Error): void;
}

/**
 * The Universal Sentence Encoder (lite, English, 512 components) in a separate thread, started on demand. Queries go
 * first and together; everything else goes piece by piece between them.
 */
export class BundledEmbedder implements Embedder {
  readonly model = "bundled use-lite-en-0.2.0";
  readonly batch = BATCH;
  readonly batchesAtOnce = 1;
  readonly queriesAtOnce = QUERIES_AT_ONCE;
  readonly #thread = new WorkerThread<string[], Answer>({
    name: "embedder",
    module: new URL("./bundled-thread.mjs", import.meta.url),
    idleMs: IDLE_MS,
  });
  #running: Job[] | null = null;
  #urgent: Job[] = [];
  #patient: Job[] = [];
  /** Queries since a text was last embedded. */
  #passed = 0;
  #isClosed = false;

  get patience(): number {
    return this.#thread.isWarm ? PATIENCE_MS : COLD_PATIENCE_MS;
  }

  async embedQuery(text: string): Promise<Float32Array> {
    const [first = ""] = splitText(text);
    const [vector] = await this.#add(this.#urgent, [first]);
    return vector as Float32Array;
  }

  async embedTexts(texts: string[]): Promise<Float32Array[]> {
    const embedded = texts.map(async (text) => {
      // One piece at a time, so that a query waits for no more than that.
      const parts = splitText(text).map((part) => this.#add(this.#patient, [part]));
      return averageOf((await Promise.all(parts)).flat());
    });
    return Promise.all(embedded);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread.close();
  }

  #add(queue: Job[], texts: string[]): Promise<Float32Array[]> {
    if (this.#isClosed) return Promise.reject(new Error("the embedder is closed"));
    return new Promise((resolve, reject) => {
      queue.push({ texts, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running) return;
    const jobs = this.#take();
    if (jobs.length === 0) return;
    this.#running = jobs;
    this.#thread
      .request(jobs.flatMap(({ texts }) => texts))
      .then(
        (answer) => this.#settle(jobs, answer),
        (err) => this.#refuse([...jobs, ...this.#urgent.splice(0), ...this.#patient.splice(0)], err),
      )
      .then(() => {
        this.#running = null;
        this.#next();
      });
  }

  /** Takes queries first, but lets a text pass now and then during an endless stream of them. */
  #take(): Job[] {
    const isTextsTurn = this.#passed >= QUERIES_BETWEEN_TEXTS && this.#patient.length > 0;
    if (this.#urgent.length === 0 || isTextsTurn) {
      this.#passed = 0;
      return this.#patient.splice(0, 1);
    }
    const queries = this.#urgent.splice(0, QUERIES_AT_ONCE);
    this.#passed += queries.length;
    return queries;
  }

  #settle(jobs: Job[], answer: Answer): void {
    if ("failed" in answer) this.#refuse(jobs, new Error(answer.failed));
    else for (const { texts, resolve } of jobs) resolve(answer.vectors.splice(0, texts.length));
  }

  #refuse(jobs: Job[], err: Error): void {
    for (const { reject } of jobs) reject(err);
  }
}
