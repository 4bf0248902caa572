/** How a key stands in a window. Times are in milliseconds since the epoch. */
export interface Standing {
  /** Hits that still fit. */
  room: number;
  /** When the oldest hit stops counting; where there is none, when one of now would. */
  resets_at: number;
}

const SLOTS = 60;

/**
 * Counts hits per key over a window that slides in sixty steps: never more than the limit fit into any window, and
 * after the wait it names there is room. A key costs about 400 bytes until it has been idle for a window or two.
 */
export class SlidingWindow {
  readonly windowMs: number;
  readonly #slotMs: number;
  // Keys that were not used for a whole window go with their generation, without a sweep over all of them.
  #current = new Map<string, Counter>();
  #previous = new Map<string, Counter>();
  #turnsAt = 0;

  constructor(windowSeconds: number) {
    this.windowMs = windowSeconds * 1000;
    this.#slotMs = this.windowMs / SLOTS;
  }

  /** How the key stands against a limit, without counting anything. */
  look(key: string, limit: number, now: number): Standing {
    const counter = this.#counter(key, now);
    return {
      room: Math.max(0, limit - counter.total),
      resets_at: (counter.oldest() + SLOTS) * this.#slotMs,
    };
  }

  hit(key: string, now: number): void {
    this.#counter(key, now).hit();
  }

  #counter(key: string, now: number): Counter {
    if (now >= this.#turnsAt) this.#turn(now);
    let counter = this.#current.get(key);
    if (!counter) {
      counter = this.#previous.get(key) ?? new Counter();
      this.#current.set(key, counter);
    }
    counter.advance(Math.floor(now / this.#slotMs));
    return counter;
  }

  #turn(now: number): void {
    this.#previous = now < this.#turnsAt + this.windowMs ? this.#current : new Map();
    this.#current = new Map();
    this.#turnsAt = now + this.windowMs;
  }
}

/** Hits in the last sixty slots, each at its number modulo sixty. */
class Counter {
  total = 0;
  readonly #hits = new Uint32Array(SLOTS);
  #slot = 0;
  #oldest = 0;

  advance(slot: number): void {
    // A clock that was set back counts into the slot it had reached.
    const steps = Math.min(slot - this.#slot, SLOTS);
    if (steps <= 0) return;
    for (let each = slot - steps + 1; each <= slot; each++) {
      const at = each % SLOTS;
      this.total -= this.#hits[at] as number;
      this.#hits[at] = 0;
    }
    this.#slot = slot;
  }

  hit(): void {
    this.#hits[this.#slot % SLOTS] = (this.#hits[this.#slot % SLOTS] as number) + 1;
    this.total++;
  }

  /** The first slot with a hit, else the present one. */
  oldest(): number {
    if (this.total === 0) return this.#slot;
    this.#oldest = Math.max(this.#oldest, this.#slot - SLOTS + 1);
    while (this.#hits[this.#oldest % SLOTS] === 0) this.#oldest++;
    return this.#oldest;
  }
}
