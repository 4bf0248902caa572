import { Worker } from "node:worker_threads";
import { CODE_CACHE } from "../../../../lib/code-cache.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../../observability/resources.ts";
import { halfCharacter, notJson } from "./body.ts";
import type { Split, SplitRequest, Splitting } from "./split.ts";

const IDLE_MS = 30_000;
const MEGABYTES = 512;

/** Others' bodies go between those of a caller that sends many. */
const queue = resourceQueue("split", {
  capacity: 1,
  chargeTime: true,
  maxWaiting: 64,
  maxWaitingPerCaller: 16,
  patienceMs: 20_000,
});

interface Job {
  resolve(splitting: Splitting): void;
  reject(err: Error): void;
}

/**
 * Parses large bodies off the main thread, so that it goes on serving others: one at a time, in a thread that ends when
 * it has had nothing to do for a while.
 */
class Splitter {
  #job: Job | null = null;
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;

  /** The body with its list in pieces of `most` bytes. @throws Fault validation_failed, rate_limited, service_unavailable */
  async split(raw: Buffer, field: string | null, most: number, share: Share): Promise<Split> {
    const splitting = await queue.run(share, 1, () => this.#post(raw, field, most)).catch(refuse);
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

  #post(raw: Buffer, field: string | null, most: number): Promise<Splitting> {
    clearTimeout(this.#idle);
    // A copy that is handed over whole: what comes from a pool cannot be.
    const request: SplitRequest = { bytes: new Uint8Array(raw), field, most };
    this.#worker ??= this.#start();
    this.#worker.postMessage(request, [request.bytes.buffer as ArrayBuffer]);
    return new Promise((resolve, reject) => {
      this.#job = { resolve, reject };
    });
  }

  #rest(): void {
    this.#job = null;
    this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
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
      this.#job?.resolve(splitting);
      this.#rest();
    });
    worker.on("error", (err) => {
      this.#worker = null;
      this.#job?.reject(err);
      this.#rest();
    });
    return worker;
  }
}

export const splitter = new Splitter();

function refuse(err: NodeJS.ErrnoException): never {
  if (err.code !== "ERR_WORKER_OUT_OF_MEMORY") throw err;
  throw notJson(`it needs more than ${MEGABYTES} MB of memory`);
}
