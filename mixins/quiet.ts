import { writesOf } from "../storage/activity.ts";

/** A look is repeated after this long in any case. */
const REST_MS = 5 * 60_000;

/**
 * Whether a look for due rows can be left out: the last one found none, none has become due since, and nothing has been
 * written. At rest, background work asks the store for next to nothing.
 */
export class Quiet {
  readonly #collection: string;
  readonly #now: () => number;
  /** Writes before the look that began last, and before the one before it. */
  #writes = -1;
  #before = -1;
  /** When the next row is due, and when that was seen. */
  #nextAt: number | null = null;
  #seenAt = Number.NEGATIVE_INFINITY;

  /** @param now the clock by which rows are due */
  constructor(collection: string, now: () => number) {
    this.#collection = collection;
    this.#now = now;
  }

  get isQuiet(): boolean {
    return this.#isKnown && performance.now() - this.#seenAt < REST_MS;
  }

  /** The milliseconds until the next row is due, as far as is known; false if there is none. */
  get untilNext(): number | false {
    const ms = (this.#nextAt ?? 0) - this.#now();
    return Number.isFinite(ms) && Math.max(0, ms);
  }

  get #isKnown(): boolean {
    if (this.#nextAt === null || this.#nextAt <= this.#now()) return false;
    return this.#writes === writesOf(this.#collection);
  }

  /** A look begins. */
  begin(): void {
    if (!this.#isKnown) this.#nextAt = null;
    this.#before = this.#writes;
    this.#writes = writesOf(this.#collection);
  }

  /** A look has found nothing. `untilNext` (ms; false: never) is asked only if nothing was written since the look before. */
  async foundNothing(untilNext: () => number | false | Promise<number | false>): Promise<void> {
    if (this.#writes !== this.#before) return;
    if (this.#nextAt === null) {
      const ms = await untilNext();
      this.#nextAt = ms === false ? Number.POSITIVE_INFINITY : this.#now() + ms;
    }
    this.#seenAt = performance.now();
  }
}

/** Whether a look at whole collections can be left out: nothing has been written since the last one. Repeated as `Quiet`. */
export class Unwritten {
  readonly #collections: readonly string[];
  #writes = -1;
  #seenAt = Number.NEGATIVE_INFINITY;

  constructor(...collections: string[]) {
    this.#collections = collections;
  }

  get isQuiet(): boolean {
    return this.#count() === this.#writes && performance.now() - this.#seenAt < REST_MS;
  }

  /** Looks. One that fails has to be repeated. */
  async look<T>(task: () => Promise<T>): Promise<T> {
    const [writes, seenAt] = [this.#count(), performance.now()];
    const result = await task();
    [this.#writes, this.#seenAt] = [writes, seenAt];
    return result;
  }

  #count(): number {
    return this.#collections.reduce((sum, name) => sum + writesOf(name), 0);
  }
}
