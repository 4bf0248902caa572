/** Divides long work on the main thread into slices, between which others run. */
export class Slices {
  readonly #ms: number;
  #end: number;

  constructor(ms: number) {
    this.#ms = ms;
    this.#end = performance.now() + ms;
  }

  /** Whether the slice is over, and it is time for `next`. */
  get over(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves when others have run, with a new slice. */
  async next(): Promise<void> {
    await new Promise(setImmediate);
    this.#end = performance.now() + this.#ms;
  }
}
