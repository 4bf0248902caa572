import type { Channel } from "./channel.ts";

interface Options<Request> {
  start(): Channel<Request>;
  /** Ends the thread after this long without a request: each takes 10 MB. */
  idleMs: number;
}

/** A thread that starts on the first request and ends when idle. A failed one is replaced. */
export class OnDemand<Request> {
  readonly #options: Options<Request>;
  #channel: Channel<Request> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(options: Options<Request>) {
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
