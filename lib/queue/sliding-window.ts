/** The state of a key in a window. Times are in milliseconds since the epoch. */
export interface Standing {
  /** Remaining hits. */
  room: number;
  /** When the oldest hit expires; without hits, when one of now would. */
  resets_at: number;
}

const SLOTS = 60;

/**
 * Counts hits per key over a window that slides in sixty steps: no window ever exceeds the limit, and after `resets_at`
 * there is capacity. A key takes about 400 bytes until it has been idle for a window or two.
 */
export class SlidingWindow {
  readonly windowMs: number;
  readonly #slotMs: number;
  // Keys unused for a whole window are dropped with their generation, without a sweep.
  #current = new Map<string, Counter>();
  #previous = new Map<string, Counter>();
  #rotatesAt = 0;

  constructor(windowSeconds: number) {
    this.windowMs = windowSeconds * 1000;
    this.#slotMs = this.windowMs / SLOTS;
  }

  /** Returns the state of a key against a limit, without counting a hit. */
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
    if (now >= this.#rotatesAt) this.#rotate(now);
    let counter = this.#current.get(key);
    if (!counter) {
      counter = this.#previous.get(key) ?? new Counter();
      this.#current.set(key, counter);
    }
    counter.advance(Math.floor(now / this.#slotMs));
    return counter;
  }

  #rotate(now: number): void {
    this.#previous = now < this.#rotatesAt + this.windowMs ? this.#current : new Map();
    this.#current = new Map();
    this.#rotatesAt = now + this.windowMs;
  }
}

/** Hits in the last sixty slots, indexed modulo sixty. */
class Counter {
  total = 0;
  readonly #hits = new Uint32Array(SLOTS);
  #slot = 0;
  #oldest = 0;

  advance(slot: number): void {
    // If the clock is set back, hits count into the current slot.
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

  /** Returns the first slot with a hit, else the current one. */
  oldest(): number {
    if (this.total === 0) return this.#slot;
    this.#oldest = Math.max(this.#oldest, this.#slot - SLOTS + 1);
    while (this.#hits[this.#oldest % SLOTS] === 0) this.#oldest++;
    return this.#oldest;
  }
}
