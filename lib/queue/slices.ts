import { spend, turn } from "./work.ts";

/** Divides long work on the main thread into slices, so that other tasks run in between: each in the turn of its call. */
export class Slices {
  readonly #ms: number;
  #end: number;
  /** Milliseconds of the slices that are over. */
  spent = 0;

  constructor(ms: number) {
    this.#ms = ms;
    this.#end = performance.now() + ms;
  }

  /** Whether the slice is over; then call `next`. */
  get over(): boolean {
    return performance.now() >= this.#end;
  }

  /** Yields to the event loop and starts a new slice. */
  async next(): Promise<void> {
    this.spent += this.#ms;
    spend(this.#ms);
    await new Promise(setImmediate);
    await turn();
    this.#end = performance.now() + this.#ms;
  }
}
