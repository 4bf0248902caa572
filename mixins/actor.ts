/**
 * One identity's turn-taking: calls for it run one after another, and callers that found nothing wait for a wake-up.
 * What decides is always the guarded write; an actor only keeps calls of one node from fighting over the same rows.
 */
export class Actor {
  /** Rises with every wake-up: tells whether anything came since a caller last looked. */
  version = 0;
  readonly #waiters = new Set<() => void>();
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all that were given before it, whether those failed or not. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Wakes every waiter. */
  wake(): void {
    this.version++;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const resume of waiters) resume();
  }

  /**
   * Arms a waiter. Arm before looking, so that what comes between looking and waiting wakes it too.
   * `sleep` resolves at the wake-up, or after `ms`; `disarm` must be called if `sleep` is not.
   */
  arm(): Waiter {
    let woken = false;
    let resume = () => {};
    const wake = () => {
      woken = true;
      resume();
    };
    this.#waiters.add(wake);
    return {
      wake: () => {
        this.#waiters.delete(wake);
        wake();
      },
      disarm: () => this.#waiters.delete(wake),
      sleep: (ms) =>
        new Promise((resolve) => {
          if (woken) return resolve();
          const timer = setTimeout(() => {
            this.#waiters.delete(wake);
            resolve();
          }, ms);
          resume = () => {
            clearTimeout(timer);
            resolve();
          };
        }),
    };
  }

  /** Whether it may be forgotten while nobody uses it. */
  get idle(): boolean {
    return true;
  }
}

export interface Waiter {
  /** Wakes this one alone. */
  wake(): void;
  sleep(ms: number): Promise<void>;
  disarm(): void;
}

/** The actors of one node by key. One that nobody uses and that is idle is forgotten. */
export class Actors<A extends Actor> {
  readonly #actors = new Map<string, { actor: A; users: number }>();
  readonly #make: () => A;

  constructor(make: () => A) {
    this.#make = make;
  }

  /** The actor of a key, for as long as `use` runs. */
  async with<T>(key: string, use: (actor: A) => Promise<T>): Promise<T> {
    let entry = this.#actors.get(key);
    if (!entry) {
      entry = { actor: this.#make(), users: 0 };
      this.#actors.set(key, entry);
    }
    entry.users++;
    try {
      return await use(entry.actor);
    } finally {
      if (--entry.users === 0 && entry.actor.idle) this.#actors.delete(key);
    }
  }

  /** The actor of a key if there is one: a wake-up for any other concerns nobody on this node. */
  peek(key: string): A | undefined {
    return this.#actors.get(key)?.actor;
  }

  wakeAll(): void {
    for (const { actor } of this.#actors.values()) actor.wake();
  }

  get size(): number {
    return this.#actors.size;
  }
}
