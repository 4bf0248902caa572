import { Worker } from "node:worker_threads";

/** Limits of a request; one that takes more ends the thread. */
export interface ThreadLimits {
  /** Of processor time. */
  cpuSeconds?: number;
  /** By the clock. */
  wallSeconds?: number;
  /** Of the thread's heap, and of what it holds outside. */
  megabytes: number;
}

interface Options {
  name: string;
  module: URL;
  data?: object;
  limits?: ThreadLimits;
  /** A thread that had nothing to do for so long is ended; at 0, with its first answer. */
  idleMs: number;
}

const LOOK_MS = 100;
const MB = 1_048_576;

/** The thread ended before it answered. */
export class ThreadEnded extends Error {
  readonly reason: "closed" | "failed" | "memory" | "time";

  constructor(reason: ThreadEnded["reason"], cause?: Error) {
    super(cause?.message ?? `the thread ended: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** A thread that answers one request at a time. A request starts it, the next after it ended too. */
export class WorkerThread<Request, Answer> {
  /** Whether the thread that runs has answered before. */
  isWarm = false;
  readonly #options: Options;
  #worker: Worker | null = null;
  #asked: PromiseWithResolvers<Answer> | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** @throws ThreadEnded */
  async request(request: Request, transfer: ArrayBuffer[] = []): Promise<Answer> {
    const { limits, idleMs } = this.#options;
    clearTimeout(this.#idle);
    this.#asked = Promise.withResolvers<Answer>();
    this.#worker ??= this.#start();
    this.#worker.postMessage(request, transfer);
    const slow = limits?.wallSeconds && setTimeout(() => this.#end("time"), limits.wallSeconds * 1000);
    const before = this.isWarm ? this.#worker.cpuUsage().catch(() => undefined) : undefined;
    const watch = limits && setInterval(() => this.#watch(limits, before), LOOK_MS);
    try {
      return await this.#asked.promise;
    } finally {
      clearTimeout(slow || undefined);
      clearInterval(watch);
      if (idleMs === 0) await this.close();
      else this.#idle = setTimeout(() => this.close(), idleMs).unref();
    }
  }

  close(): Promise<void> {
    return this.#end("closed");
  }

  #start(): Worker {
    const { name, module, data, limits } = this.#options;
    const resourceLimits = limits && { maxOldGenerationSizeMb: limits.megabytes };
    const worker = new Worker(module, { name, workerData: data, env: {}, resourceLimits });
    worker.unref();
    worker.on("message", (answer: Answer) => {
      this.isWarm = true;
      this.#asked?.resolve(answer);
    });
    const ended = (reason: ThreadEnded["reason"], cause?: Error) => {
      if (worker === this.#worker) void this.#end(reason, cause);
    };
    worker.on("error", (err: NodeJS.ErrnoException) =>
      ended(err.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "failed", err),
    );
    worker.on("exit", () => ended("failed"));
    return worker;
  }

  /** Node's own limits count the heap only: large buffers are outside. */
  async #watch({ cpuSeconds, megabytes }: ThreadLimits, before?: Promise<NodeJS.CpuUsage | undefined>) {
    const worker = this.#worker;
    if (!worker) return;
    const used = [worker.getHeapStatistics(), worker.cpuUsage(await before)] as const;
    const [heap, cpu] = await Promise.all(used).catch(() => []);
    if (worker !== this.#worker || !heap || !cpu) return;
    if (heap.used_heap_size + heap.external_memory > megabytes * MB) await this.#end("memory");
    else if (cpuSeconds && cpu.user + cpu.system > cpuSeconds * 1e6) await this.#end("time");
  }

  async #end(reason: ThreadEnded["reason"], cause?: Error): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    this.isWarm = false;
    this.#asked?.reject(new ThreadEnded(reason, cause));
    await worker?.terminate();
  }
}
