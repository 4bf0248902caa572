import type { SharedWindows } from "../../../connectors/redis.ts";
import { SharedAttempts } from "./shared-attempts.ts";
import { Turns } from "./turns.ts";

/** Runs attempts with a limit of failures per minute and key. */
export class Guarded {
  readonly #attempts: SharedAttempts;
  readonly #turns = new Turns();
  readonly #isOff: boolean;

  /** @param limit Failures per minute and key; 0 is no limit. */
  constructor(limit: number, windows: SharedWindows | null) {
    this.#isOff = limit === 0;
    this.#attempts = new SharedAttempts(limit, windows);
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
    if (this.#isOff) return attempt();
    const giveBack = await this.#turns.take(keys, () => this.#attempts.begin(keys, Date.now()));
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
      this.#turns.leave(keys, !isFailure);
    }
  }
}
