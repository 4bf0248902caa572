interface Bucket {
  left: number;
  at: number;
}

const FORGET_FROM = 1_024;

/** Budgets by key that refill with time up to `burst`. Times are milliseconds of a monotonic clock. */
export class TokenBuckets {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();
  #forgetAt = FORGET_FROM;

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
  }

  /**
   * Returns the milliseconds until the key may take an amount, 0 if now. A key with any budget left may overdraw it.
   */
  waitOf(key: string, now: number): number {
    const left = this.#leftOf(key, now);
    return left > 0 ? 0 : (1 - left) / this.#perMs;
  }

  take(key: string, amount: number, now: number): void {
    const left = this.#leftOf(key, now) - amount;
    if (this.#buckets.size >= this.#forgetAt) this.#forgetFull(now);
    this.#buckets.set(key, { left, at: now });
  }

  #leftOf(key: string, now: number): number {
    const bucket = this.#buckets.get(key);
    return bucket ? Math.min(this.#burst, bucket.left + (now - bucket.at) * this.#perMs) : this.#burst;
  }

  #forgetFull(now: number): void {
    for (const key of this.#buckets.keys())
      if (this.#leftOf(key, now) >= this.#burst) this.#buckets.delete(key);
    this.#forgetAt = Math.max(FORGET_FROM, 2 * this.#buckets.size);
  }
}
