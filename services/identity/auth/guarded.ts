import type { SharedWindows } from "../../../connectors/redis.ts";
import { rateLimited } from "../../../lib/contract/faults.ts";
import type { Taken } from "../../../lib/queue/sliding-window.ts";
import { RateWindows, WINDOW_SECONDS } from "../../../observability/rate-windows.ts";

/** How long an attempt waits for others of its keys. */
const PATIENCE_MS = 10_000;

/** The attempts of a key on this node. */
interface Key {
  inProgress: number;
  /** Attempts that wait for those in progress. */
  waiting: Set<() => void>;
}

/**
 * Runs attempts with a limit of failures per minute and key, such as an address. An attempt counts when it begins and is
 * given back when it succeeds, so that concurrent attempts cannot exceed the limit. One over the limit waits for those in
 * progress on this node, as each may succeed: otherwise a fleet of agents that starts at once would be refused without any
 * failure.
 */
export class Guarded {
  readonly #limit: number;
  readonly #windows: RateWindows;
  readonly #keys = new Map<string, Key>();

  /** @param limit Failures per minute and key; 0 is no limit. */
  constructor(limit: number, shared: SharedWindows | null) {
    this.#limit = limit;
    this.#windows = new RateWindows(shared);
  }

  /**
   * Runs an attempt; `failed` decides whether its outcome or its error is a failure.
   *
   * @throws Fault rate_limited without running it if the key has no failure left.
   */
  async run<T>(
    key: string,
    attempt: () => Promise<T>,
    failed: (outcome: T | undefined, error: unknown) => boolean,
  ): Promise<T> {
    if (this.#limit === 0) return attempt();
    const giveBack = await this.#begin(key);
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
      this.#end(key, !isFailure);
    }
  }

  /** Takes one attempt, as soon as there is capacity; returns a function that gives it back. */
  async #begin(key: string): Promise<() => void> {
    const limits = [{ key: `attempt ${key}`, max: this.#limit }];
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const now = Date.now();
      const before = this.#keys.get(key);
      const taken = await this.#windows.take(limits, now);
      const known = this.#keys.get(key);
      if (taken.allowed) {
        if (known) known.inProgress++;
        else this.#keys.set(key, { inProgress: 1, waiting: new Set() });
        return taken.giveBack;
      }
      const left = until - performance.now();
      if (!(before ?? known) || left <= 0) throw this.#tooMany(taken, now);
      if (known) await woken(known, left);
    }
  }

  #end(name: string, succeeded: boolean): void {
    const key = this.#keys.get(name) as Key;
    if (--key.inProgress === 0) this.#keys.delete(name);
    // After the last one nobody frees capacity any more: wake all.
    const woken = key.inProgress === 0 ? key.waiting.size : succeeded ? 1 : 0;
    for (const wake of [...key.waiting].slice(0, woken)) wake();
  }

  #tooMany({ limit, resets_at }: Taken, now: number) {
    return rateLimited("Too many failed attempts. Retry", limit, WINDOW_SECONDS, resets_at - now);
  }
}

/** Resolves when an attempt of the key has ended, or after some time. */
function woken({ waiting }: Key, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    waiting.add(wake);
  });
}
