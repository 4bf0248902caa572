import type { Channel } from "./channel.ts";

interface Options<Request> {
  start(): Channel<Request>;
  /** A thread that was asked nothing for so long is ended: each takes 10 MB. */
  idleMs: number;
}

/** A thread that comes when it is asked for and goes when it is not. One that failed is replaced. */
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

  /** To be asked at once: it may be ended in a later turn of the event loop. */
  get(): Channel<Request> {
    if (this.#channel?.failure) this.#channel = undefined;
    this.#timer ??= setTimeout(() => this.#rest(), this.#options.idleMs).unref();
    this.#timer.refresh();
    this.#channel ??= this.#options.start();
    return this.#channel;
  }

  /** Lets it finish and end. */
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
