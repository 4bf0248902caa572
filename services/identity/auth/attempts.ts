import { type Fault, rateLimited } from "../../../lib/contract/faults.ts";

const WINDOW_MS = 60_000;
const MOST_KEYS = 100_000;

interface Window {
  count: number;
  ends_at: number;
}

/**
 * Counts failures per key (an address, an account) in windows of a minute. An attempt counts when it begins and is
 * returned when it succeeds, so that concurrent attempts cannot exceed the limit.
 */
export class Attempts {
  readonly #limit: number;
  readonly #windows = new Map<string, Window>();

  /** @param limit Failures per minute and key; 0 is no limit. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes one attempt from each key. @throws Fault rate_limited if one of them has none left. */
  begin(keys: readonly string[], now: number): void {
    if (this.#limit === 0) return;
    const windows = keys.map((key) => this.#windowOf(key, now));
    const full = windows.find((window) => window.count >= this.#limit);
    if (full) throw tooMany(this.#limit, full.ends_at - now);
    for (const window of windows) window.count++;
  }

  succeeded(keys: readonly string[]): void {
    for (const key of keys) {
      const window = this.#windows.get(key);
      if (window && window.count > 0) window.count--;
    }
  }

  #windowOf(key: string, now: number): Window {
    const known = this.#windows.get(key);
    if (known && known.ends_at > now) return known;
    this.#windows.delete(key);
    if (this.#windows.size >= MOST_KEYS) this.#forgetOldest(now);
    const window = { count: 0, ends_at: now + WINDOW_MS };
    this.#windows.set(key, window);
    return window;
  }

  // Windows are ordered by their beginning, so those that have ended come first.
  #forgetOldest(now: number): void {
    for (const [key, { ends_at }] of this.#windows) {
      if (ends_at > now && this.#windows.size < MOST_KEYS) return;
      this.#windows.delete(key);
    }
  }
}

/** Returns the fault of an attempt over the limit, which has capacity after some ms. */
export function tooMany(limit: number, waitMs: number): Fault {
  return rateLimited("Too many failed attempts. Retry", limit, WINDOW_MS / 1000, waitMs);
}
