/** The waiters for keys in this process. */
export class Waiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Resolves when the key is woken, or after `ms`. */
  wait(key: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting);
      const go = () => {
        clearTimeout(timer);
        waiting.delete(go);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(go, ms);
      waiting.add(go);
    });
  }

  wake(key: string): void {
    for (const go of [...(this.#waiting.get(key) ?? [])]) go();
  }

  wakeAll(): void {
    for (const key of [...this.#waiting.keys()]) this.wake(key);
  }
}
