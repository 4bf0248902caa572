import { Worker } from "node:worker_threads";
import { DamagedFile, type WireError } from "../errors.ts";
import { CLOSE, CLOSED, type Hello, type Reply, type WorkerSettings } from "./protocol.ts";

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** How a program sends to its threads. */
export interface ThreadsOptions {
  /** Runs a task at the end of the event loop tick: requests up to then travel as one message. */
  atTickEnd?(task: () => void): void;
  /** Is told, in the context of a caller, how many milliseconds of a thread its read took, if they were some. */
  onRead?(ms: number): void;
}

/** The answer of a read that took its thread some milliseconds. */
export class SlowRead {
  readonly value: unknown;
  readonly ms: number;

  constructor(value: unknown, ms: number) {
    this.value = value;
    this.ms = ms;
  }
}

/** A thread: its name in diagnostics, the file it opens and the module that serves it. */
interface ThreadSettings extends ThreadsOptions, WorkerSettings {
  name: string;
  module: URL;
}

/** Converts a worker's error to the caller's. */
export type ErrorMaker = (error: WireError) => Error;

/** Called for requests answered together, with their number and the seconds since the first was sent. */
export type AnsweredListener = (requests: number, seconds: number) => void;

/** A worker thread and its pending requests; those of one event loop tick travel as one message. */
export class Channel<Request> {
  onAnswered: AnsweredListener | undefined;
  readonly #worker: Worker;
  readonly #atTickEnd: (task: () => void) => void;
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
    const { name, file, module, atTickEnd = setImmediate } = settings;
    this.#makeError = makeError;
    this.#atTickEnd = atTickEnd;
    this.#worker = new Worker(module, { name, workerData: { file } });
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.once("message", (hello: Hello) => {
        if (!hello.ready) {
          this.#die(new (hello.damaged ? DamagedFile : Error)(hello.reason));
          return reject(this.#dead);
        }
        this.#worker.on("message", (message: Reply | typeof CLOSED) => this.#receive(message));
        resolve();
      });
      this.#worker.once("error", reject);
    });
    // Callers of `ready` get the rejection; a thread that nobody waits for reports it with its first request.
    this.#ready.catch(() => {});
    this.#exited = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker.on("error", (error: Error & { code?: string }) => {
      const why = new Error(`the store's worker thread failed: ${error.message}`, { cause: error });
      this.#die(Object.assign(why, { code: error.code }));
      onDeath(error);
    });
  }

  /** Resolves when the worker answers; rejects with the reason if it cannot. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Number of unanswered requests. */
  get pending(): number {
    return this.#waiting.length - this.#answered;
  }

  /** Why the worker died, if it did; every request is then refused. */
  get failure(): Error | undefined {
    return this.#dead;
  }

  request<T>(request: Request): Promise<T> {
    if (this.#dead) return Promise.reject(this.#dead);
    if (this.#closing) return Promise.reject(new Error("the store is closed"));
    if (this.#queue.length === 0) this.#atTickEnd(() => this.send());
    this.#queue.push(request);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Sends the requests of this event loop tick as one message. */
  send(): void {
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
      else resolve((answer.ms === undefined ? answer.value : new SlowRead(answer.value, answer.ms)) as never);
    }
    this.#forgetAnswered();
    this.#notifyAnswered(message.answers.length);
    if (message.logIsLong) this.onLongLog?.();
  }

  /** The worker answers whole messages, one or several at a time. */
  #notifyAnswered(requests: number): void {
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

  /** Waits for pending requests, then ends the worker. */
  async close(): Promise<void> {
    this.#closing = true;
    this.send();
    this.#worker.postMessage(CLOSE);
    await this.#exited;
  }
}

interface OnDemandOptions<Request> {
  start(): Channel<Request>;
  /** Ends the thread after this long without a request: each takes 10 MB. */
  idleMs: number;
}

/** A thread that starts on the first request and ends when idle. A failed one is replaced. */
export class OnDemand<Request> {
  readonly #options: OnDemandOptions<Request>;
  #channel: Channel<Request> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(options: OnDemandOptions<Request>) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#channel !== undefined;
  }

  /** Returns the thread for use in this event loop tick: it may end in a later one. */
  get(): Channel<Request> {
    if (this.#channel?.failure) this.#channel = undefined;
    this.#timer ??= setTimeout(() => this.#rest(), this.#options.idleMs).unref();
    this.#timer.refresh();
    this.#channel ??= this.#options.start();
    return this.#channel;
  }

  /** Waits for pending requests, then ends the thread. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#channel) this.#left = this.#channel.close();
    this.#channel = undefined;
    return this.#left;
  }

  #rest(): void {
    if (this.#channel?.pending) this.#timer?.refresh();
    else void this.close();
  }
}
