import { isFault } from "../../../lib/contract/faults.ts";

/** How long an attempt waits for others of its keys. */
const PATIENCE_MS = 10_000;

interface Waiter {
  keys: readonly string[];
  go(): void;
}

/**
 * Tracks attempts in progress on this node, by key. An attempt over the limit waits for them, as each may succeed and
 * free capacity. Otherwise a fleet of agents that starts at once would be refused without any failure.
 */
export class AttemptsInProgress {
  readonly #underWay = new Map<string, number>();
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** Takes capacity through `begin`, which throws rate_limited without any, as soon as there may be some. */
  async take<T>(keys: readonly string[], begin: () => Promise<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        const taken = await begin();
        for (const key of keys) this.#underWay.set(key, this.#count(key) + 1);
        return taken;
      } catch (err) {
        const busy = keys.filter((key) => this.#count(key) > 0);
        const left = until - performance.now();
        if (!isFault(err) || err.type !== "rate_limited" || busy.length === 0 || left <= 0) throw err;
        await this.#wait(busy, left);
      }
    }
  }

  /** Reports that an attempt with capacity has ended. */
  leave(keys: readonly string[], succeeded: boolean): void {
    for (const key of keys) {
      const left = this.#count(key) - 1;
      if (left > 0) this.#underWay.set(key, left);
      else this.#underWay.delete(key);
      // After the last one nobody frees capacity any more: wake all.
      const woken = left > 0 ? (succeeded ? 1 : 0) : Number.POSITIVE_INFINITY;
      this.#wake(key, woken);
    }
  }

  #count(key: string): number {
    return this.#underWay.get(key) ?? 0;
  }

  #wait(keys: readonly string[], ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        keys,
        go: () => {
          clearTimeout(timer);
          this.#forget(waiter);
          resolve();
        },
      };
      const timer = setTimeout(waiter.go, ms);
      for (const key of keys) {
        const waiting = this.#waiting.get(key) ?? new Set();
        this.#waiting.set(key, waiting.add(waiter));
      }
    });
  }

  #wake(key: string, most: number): void {
    for (const waiter of [...(this.#waiting.get(key) ?? [])].slice(0, most)) waiter.go();
  }

  #forget(waiter: Waiter): void {
    for (const key of waiter.keys) {
      const waiting = this.#waiting.get(key);
      waiting?.delete(waiter);
      if (waiting?.size === 0) this.#waiting.delete(key);
    }
  }
}
