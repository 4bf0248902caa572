import { LruMap } from "../lru-map.ts";

/** A budget that refills with time up to `burst`. Times are milliseconds of a monotonic clock. */
export class TokenBucket {
  left: number;
  readonly #perMs: number;
  readonly #burst: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(perMs: number, burst: number) {
    this.#perMs = perMs;
    this.#burst = burst;
    this.left = burst;
  }

  /** @returns whether it is full */
  refill(now: number): boolean {
    this.add((now - this.#at) * this.#perMs);
    this.#at = now;
    return this.left === this.#burst;
  }

  add(amount: number): void {
    this.left = Math.min(this.#burst, this.left + amount);
  }

  /** Takes an amount, overdrawing the budget if necessary. @returns whether there was enough */
  take(amount: number): boolean {
    this.left -= amount;
    return this.left >= 0;
  }
}

/** Bounds what many keys make it keep. */
const MOST_KEYS = 50_000;

/** Token buckets by key; of too many, those used least recently are forgotten. */
export class TokenBuckets {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets = new LruMap<string, TokenBucket>(MOST_KEYS);

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
  }

  /** Returns the ms until the key may take an amount, 0 if now. With any budget left it may overdraw. */
  waitOf(key: string, now: number): number {
    const bucket = this.#buckets.get(key);
    bucket?.refill(now);
    return !bucket || bucket.left > 0 ? 0 : (1 - bucket.left) / this.#perMs;
  }

  take(key: string, amount: number, now: number): void {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#perMs, this.#burst);
    this.#buckets.set(key, bucket);
    bucket.refill(now);
    bucket.take(amount);
  }
}
