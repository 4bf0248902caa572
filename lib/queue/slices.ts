import { spend, turn } from "./work.ts";

/** Divides long work on the main thread into slices, so that other tasks run in between: each in the turn of its call. */
export class Slices {
  readonly #ms: number;
  #began = performance.now();
  #before = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Whether the slice is over; then call `next`. */
  get over(): boolean {
    return performance.now() >= this.#began + this.#ms;
  }

  /** Milliseconds of all slices. */
  get spent(): number {
    return this.#before + performance.now() - this.#began;
  }

  /** Yields to the event loop and starts a new slice. */
  async next(): Promise<void> {
    const ms = performance.now() - this.#began;
    this.#before += ms;
    spend(ms);
    await new Promise(setImmediate);
    await turn();
    this.#began = performance.now();
  }
}
