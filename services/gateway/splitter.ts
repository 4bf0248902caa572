import { Worker } from "node:worker_threads";
import { CODE_CACHE } from "../../lib/code-cache.ts";
import { halfCharacter, notJson } from "./body.ts";
import type { Split, SplitRequest, Splitting } from "./split.ts";

const IDLE_MS = 30_000;
const MEGABYTES = 512;

interface Job {
  request: SplitRequest;
  resolve(splitting: Splitting): void;
  reject(err: Error): void;
}

/**
 * Parses large bodies off the main thread, so that a node that is sent some is not taken for dead: one after another,
 * in a thread that ends when it has had nothing to do for a while.
 */
class Splitter {
  readonly #jobs: Job[] = [];
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;

  /** The body with its list in pieces of `most` bytes. @throws Fault validation_failed */
  async split(raw: Buffer, field: string | null, most: number): Promise<Split> {
    // A copy that is handed over whole: what comes from a pool cannot be.
    const splitting = await this.#add({ bytes: new Uint8Array(raw), field, most }).catch(refuse);
    if ("notJson" in splitting) throw notJson(splitting.notJson, splitting.field);
    if ("half" in splitting) throw halfCharacter(splitting.half);
    return splitting;
  }

  /** Ends the thread; the next body starts another. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #add(request: SplitRequest): Promise<Splitting> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ request, resolve, reject });
      if (this.#jobs.length === 1) this.#next();
    });
  }

  #next(): void {
    clearTimeout(this.#idle);
    const [job] = this.#jobs;
    if (!job) {
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.postMessage(job.request, [job.request.bytes.buffer as ArrayBuffer]);
  }

  #start(): Worker {
    const worker = new Worker(new URL("./split-thread.mjs", import.meta.url), {
      name: "splitter",
      workerData: { cache: CODE_CACHE },
      resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
      env: {},
    });
    worker.unref();
    worker.on("message", (splitting: Splitting) => {
      this.#jobs.shift()?.resolve(splitting);
      this.#next();
    });
    worker.on("error", (err) => {
      this.#worker = null;
      this.#jobs.shift()?.reject(err);
      this.#next();
    });
    return worker;
  }
}

export const splitter = new Splitter();

function refuse(err: NodeJS.ErrnoException): never {
  if (err.code !== "ERR_WORKER_OUT_OF_MEMORY") throw err;
  throw notJson(`it needs more than ${MEGABYTES} MB of memory`);
}
