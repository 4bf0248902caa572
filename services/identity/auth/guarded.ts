import type { SharedWindows } from "../../../connectors/redis.ts";
import { metrics } from "../../../observability/metrics.ts";
import { Attempts, tooMany } from "./attempts.ts";
import { AttemptsInProgress } from "./attempts-in-progress.ts";

/**
 * Runs attempts with a limit of failures per minute and key. Failures count in Redis for all nodes; without Redis, or
 * while it is unreachable, on this node alone.
 */
export class Guarded {
  readonly #limit: number;
  readonly #windows: SharedWindows | null;
  readonly #local: Attempts;
  readonly #inProgress = new AttemptsInProgress();

  /** @param limit Failures per minute and key; 0 is no limit. */
  constructor(limit: number, windows: SharedWindows | null) {
    this.#limit = limit;
    this.#windows = windows;
    this.#local = new Attempts(limit);
  }

  /**
   * Runs an attempt; `failed` decides whether its outcome or its error is a failure.
   *
   * @throws Fault rate_limited without running it if one of the keys has no failure left.
   */
  async run<T>(
    keys: readonly string[],
    attempt: () => Promise<T>,
    failed: (outcome: T | undefined, error: unknown) => boolean,
  ): Promise<T> {
    if (this.#limit === 0) return attempt();
    const giveBack = await this.#inProgress.take(keys, () => this.#begin(keys, Date.now()));
    let isFailure = false;
    try {
      const outcome = await attempt();
      isFailure = failed(outcome, undefined);
      return outcome;
    } catch (err) {
      isFailure = failed(undefined, err);
      throw err;
    } finally {
      if (!isFailure) giveBack();
      this.#inProgress.leave(keys, !isFailure);
    }
  }

  /** Takes one attempt from each key; returns a function that gives them back after success. */
  async #begin(keys: readonly string[], now: number): Promise<() => void> {
    const windows = this.#windows;
    const named = keys.map((key) => `attempt ${key}`);
    const standing = await windows?.take(named.map((key) => ({ key, max: this.#limit })));
    if (!windows || !standing) {
      if (windows) metrics.limitsCountedHere.inc();
      this.#local.begin(keys, now);
      return () => this.#local.succeeded(keys);
    }
    if (!standing.allowed) throw tooMany(this.#limit, standing.resets_in_ms);
    return () => void windows.giveBack(named, standing.slot);
  }
}
