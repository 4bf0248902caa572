import { LruMap } from "../lru-map.ts";

/** The state of a key in a window. Times are in milliseconds since the epoch. */
export interface Standing {
  /** Remaining hits. */
  room: number;
  /** When the oldest hit expires; without hits, when one of now would. */
  resets_at: number;
}

/** At most `max` hits of a key in a window. */
export interface Limit {
  key: string;
  max: number;
}

/** The state of the tightest of several limits. */
export interface Taken {
  /** False if a limit is reached: then nothing was counted. */
  allowed: boolean;
  limit: number;
  remaining: number;
  /** When the oldest hit expires, in milliseconds since the epoch. */
  resets_at: number;
  /** Takes back what was counted and has not expired, once. */
  giveBack(): void;
}

const SLOTS = 60;
/** Bounds what callers from many addresses make it keep. */
const MOST_KEYS = 50_000;

/**
 * Counts hits per key over a window that slides in sixty steps: no window ever exceeds the limit, and after `resets_at`
 * there is capacity. A key takes about 400 bytes; of too many, those used least recently are forgotten.
 */
export class SlidingWindow {
  readonly #slotMs: number;
  readonly #counters = new LruMap<string, Counter>(MOST_KEYS);

  constructor(windowSeconds: number) {
    this.#slotMs = (windowSeconds * 1000) / SLOTS;
  }

  /** Returns the state of a key against a limit, without counting a hit. */
  look(key: string, limit: number, now: number): Standing {
    const counter = this.#counter(key, now);
    return {
      room: Math.max(0, limit - counter.total),
      resets_at: (counter.oldest() + SLOTS) * this.#slotMs,
    };
  }

  /** @returns a function that takes the hit back, unless it has expired */
  hit(key: string, now: number): () => void {
    return this.#counter(key, now).hit();
  }

  /** Counts a hit against every limit, or against none if one is reached. */
  take(limits: readonly Limit[], now: number): Taken {
    let tightest: Omit<Taken, "giveBack"> | undefined;
    for (const { key, max } of limits) {
      const { room, resets_at } = this.look(key, max, now);
      if (tightest && room - 1 >= tightest.remaining) continue;
      tightest = { allowed: room > 0, limit: max, remaining: room - 1, resets_at };
    }
    const { allowed, limit, remaining, resets_at } = tightest as Taken;
    const hits = allowed ? limits.map(({ key }) => this.hit(key, now)) : [];
    const giveBack = () => {
      for (const takeBack of hits.splice(0)) takeBack();
    };
    return { allowed, limit, remaining: Math.max(0, remaining), resets_at, giveBack };
  }

  #counter(key: string, now: number): Counter {
    const counter = this.#counters.get(key) ?? new Counter();
    this.#counters.set(key, counter);
    counter.advance(Math.floor(now / this.#slotMs));
    return counter;
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

  hit(): () => void {
    const slot = this.#slot;
    const at = slot % SLOTS;
    this.#hits[at] = (this.#hits[at] as number) + 1;
    this.total++;
    return () => {
      if (slot <= this.#slot - SLOTS) return;
      this.#hits[at] = (this.#hits[at] as number) - 1;
      this.total--;
    };
  }

  /** Returns the first slot with a hit, else the current one. */
  oldest(): number {
    if (this.total === 0) return this.#slot;
    this.#oldest = Math.max(this.#oldest, this.#slot - SLOTS + 1);
    while (this.#hits[this.#oldest % SLOTS] === 0) this.#oldest++;
    return this.#oldest;
  }
}
