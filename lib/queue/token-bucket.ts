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

const FORGET_FROM = 1_024;

/** Token buckets by key. */
export class TokenBuckets {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, TokenBucket>();
  #forgetAt = FORGET_FROM;

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
  }

  /**
   * Returns the milliseconds until the key may take an amount, 0 if now. A key with any budget left may overdraw it.
   */
  waitOf(key: string, now: number): number {
    const bucket = this.#buckets.get(key);
    bucket?.refill(now);
    return !bucket || bucket.left > 0 ? 0 : (1 - bucket.left) / this.#perMs;
  }

  take(key: string, amount: number, now: number): void {
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      if (this.#buckets.size >= this.#forgetAt) this.#forgetFull(now);
      bucket = new TokenBucket(this.#perMs, this.#burst);
      this.#buckets.set(key, bucket);
    }
    bucket.refill(now);
    bucket.take(amount);
  }

  #forgetFull(now: number): void {
    for (const [key, bucket] of this.#buckets) if (bucket.refill(now)) this.#buckets.delete(key);
    this.#forgetAt = Math.max(FORGET_FROM, 2 * this.#buckets.size);
  }
}
