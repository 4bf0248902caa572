import { Worker } from "node:worker_threads";
import type { WireError } from "../errors.ts";
import { CLOSE, CLOSED, type Hello, type Reply, type WorkerSettings } from "./protocol.ts";

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** How a program starts its threads and sends to them. */
export interface ThreadsOptions {
  /**
   * The module that a thread begins with, and what its `workerData` has besides `file` and `entry`. It imports
   * `workerData.entry`, as thread.mjs does.
   */
  bootstrap?: { module: URL; data?: object };
  /** Runs a task when this turn of the event loop ends: what was requested until then travels as one message. */
  atTurnEnd?(task: () => void): void;
}

/** A thread: its name in diagnostics, the file that it opens, and the module that serves it. */
export interface ThreadSettings extends ThreadsOptions, WorkerSettings {
  name: string;
}

/** Turns an error of the worker into the one the caller gets. */
export type ErrorMaker = (error: WireError) => Error;

/** Is told of requests that were answered together: how many, and the seconds since the first of them was sent. */
export type AnsweredListener = (requests: number, seconds: number) => void;

/** A worker thread and the requests on their way to it: those of one turn of the event loop travel as one message. */
export class Channel<Request> {
  onAnswered: AnsweredListener | undefined;
  readonly #worker: Worker;
  readonly #atTurnEnd: (task: () => void) => void;
  readonly #makeError: ErrorMaker;
  readonly #ready: Promise<void>;
  readonly #exited: Promise<void>;
  /** Called when the worker asks for a checkpoint. */
  onLongLog: (() => void) | undefined;
  #queue: Request[] = [];
  readonly #sent: { requests: number; at: number }[] = [];
  #waiting: Waiting[] = [];
  #answered = 0;
  #closing = false;
  #dead: Error | undefined;

  constructor(settings: ThreadSettings, makeError: ErrorMaker, onDeath: (error: Error) => void) {
    const { name, file, entry, bootstrap, atTurnEnd = setImmediate } = settings;
    this.#makeError = makeError;
    this.#atTurnEnd = atTurnEnd;
    const module = bootstrap?.module ?? new URL("./thread.mjs", import.meta.url);
    this.#worker = new Worker(module, { name, workerData: { ...bootstrap?.data, file, entry } });
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.once("message", (hello: Hello) => {
        if (!hello.ready) {
          this.#die(new Error(hello.reason));
          return reject(this.#dead);
        }
        this.#worker.on("message", (message: Reply | typeof CLOSED) => this.#receive(message));
        resolve();
      });
      this.#worker.once("error", reject);
    });
    // whoever waits for `ready` hears of it; a thread that nobody waits for says so with its first request
    this.#ready.catch(() => {});
    this.#exited = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker.on("error", (error: Error & { code?: string }) => {
      const why = new Error(`the store's worker thread failed: ${error.message}`);
      this.#die(Object.assign(why, { code: error.code }));
      onDeath(error);
    });
  }

  /** Fulfils when the worker answers; rejects with the reason it cannot. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Requests that have not been answered. */
  get pending(): number {
    return this.#waiting.length - this.#answered;
  }

  /** Why the worker died, if it did: then every request is refused. */
  get failure(): Error | undefined {
    return this.#dead;
  }

  request<T>(request: Request): Promise<T> {
    if (this.#dead) return Promise.reject(this.#dead);
    if (this.#closing) return Promise.reject(new Error("the store is closed"));
    if (this.#queue.length === 0) this.#atTurnEnd(() => this.#flush());
    this.#queue.push(request);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #flush(): void {
    if (this.#queue.length === 0) return;
    const batch = this.#queue;
    this.#queue = [];
    this.#sent.push({ requests: batch.length, at: performance.now() });
    this.#worker.postMessage(batch);
  }

  #receive(message: Reply | typeof CLOSED): void {
    if (message === CLOSED) return;
    for (const answer of message.answers) {
      const { resolve, reject } = this.#waiting[this.#answered++] as Waiting;
      if ("failed" in answer) reject(this.#makeError(answer.failed));
      else resolve(answer.value as never);
    }
    this.#forgetAnswered();
    this.#tellAnswered(message.answers.length);
    if (message.logIsLong) this.onLongLog?.();
  }

  /** The worker answers whole messages, one or several at a time. */
  #tellAnswered(requests: number): void {
    const since = this.#sent[0]?.at ?? 0;
    for (let left = requests; left > 0; ) left -= this.#sent.shift()?.requests ?? left;
    this.onAnswered?.(requests, (performance.now() - since) / 1000);
  }

  #forgetAnswered(): void {
    if (this.#answered === this.#waiting.length) this.#waiting = [];
    else if (this.#answered > 1_000) this.#waiting.splice(0, this.#answered);
    else return;
    this.#answered = 0;
  }

  #die(error: Error): void {
    this.#dead = error;
    for (const { reject } of this.#waiting.splice(this.#answered)) reject(error);
    this.#waiting = [];
    this.#answered = 0;
  }

  /** Lets what was requested finish, then ends the worker. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#flush();
    this.#worker.postMessage(CLOSE);
    await this.#exited;
  }
}
