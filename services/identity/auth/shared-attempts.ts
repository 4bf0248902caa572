import type { SharedWindows } from "../../../connectors/redis.ts";
import { metrics } from "../../../observability/metrics.ts";
import { Attempts, tooMany } from "./attempts.ts";

/** Counts failures in Redis for all nodes; without Redis, or while it is unreachable, on this node alone. */
export class SharedAttempts {
  readonly #limit: number;
  readonly #windows: SharedWindows | null;
  readonly #local: Attempts;

  /** @param limit Failures per minute and key; 0 is no limit. */
  constructor(limit: number, windows: SharedWindows | null) {
    this.#limit = limit;
    this.#windows = windows;
    this.#local = new Attempts(limit);
  }

  /**
   * Takes one attempt from each key; returns a function that gives them back after success.
   *
   * @throws Fault rate_limited if one of the keys has none left.
   */
  async begin(keys: readonly string[], now: number): Promise<() => void> {
    const windows = this.#limit > 0 ? this.#windows : null;
    const named = keys.map((key) => `attempt ${key}`);
    const standing = await windows?.take(named.map((key) => ({ key, max: this.#limit })));
    if (!windows || !standing) {
      if (windows) metrics.limitsCountedHere.inc();
      this.#local.begin(keys, now);
      return () => this.#local.succeeded(keys);
    }
    if (!standing.allowed) throw tooMany(now + standing.resets_in_ms, this.#limit, now);
    return () => void windows.giveBack(named, standing.slot);
  }
}
