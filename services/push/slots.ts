/**
 * A number of things that may go on at once, shared in turns: whoever asks waits behind those that asked before, so
 * one that always has work to do comes after everybody else's turn.
 */
export class Slots {
  #free: number;
  readonly #queue: { most: number; grant: (granted: number) => void }[] = [];

  constructor(total: number) {
    this.#free = total;
  }

  /** Resolves with between 1 and `most` slots. */
  acquire(most: number): Promise<number> {
    return new Promise((grant) => {
      this.#queue.push({ most, grant });
      this.#serve();
    });
  }

  release(count: number): void {
    this.#free += count;
    this.#serve();
  }

  #serve(): void {
    while (this.#free > 0) {
      const next = this.#queue.shift();
      if (!next) return;
      const granted = Math.min(next.most, this.#free);
      this.#free -= granted;
      next.grant(granted);
    }
  }
}
