/**
 * Serialises calls for one identity; callers that found nothing wait for a wake-up. Correctness rests on guarded
 * writes; an actor only keeps calls of one node from competing for the same rows.
 */
export class Actor {
  /** Increases with every wake-up, so that a caller knows whether anything happened since it last looked. */
  version = 0;
  readonly #waiters = new Set<() => void>();
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier ones, whether they failed or not. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  wake(): void {
    this.version++;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const resume of waiters) resume();
  }

  /**
   * Arms a waiter. Arm it before looking, so that a change between looking and waiting wakes it too. `sleep` resolves
   * at the wake-up, or after `ms`; call `disarm` if `sleep` is not called.
   */
  arm(): Waiter {
    const { promise, resolve } = Promise.withResolvers<void>();
    const disarm = () => this.#waiters.delete(resolve);
    this.#waiters.add(resolve);
    return {
      wake() {
        disarm();
        resolve();
      },
      disarm,
      async sleep(ms) {
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
        disarm();
      },
    };
  }

  /** Whether it may be removed while unused. */
  get idle(): boolean {
    return true;
  }
}

export interface Waiter {
  /** Wakes only this waiter. */
  wake(): void;
  sleep(ms: number): Promise<void>;
  disarm(): void;
}

/** The actors of one node by key. Unused idle ones are removed. */
export class Actors<A extends Actor> {
  readonly #actors = new Map<string, { actor: A; users: number }>();
  readonly #make: () => A;

  constructor(make: () => A) {
    this.#make = make;
  }

  /** Provides the actor of a key while `use` runs. */
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

  /** Returns the actor of a key, if any: without one, nobody on this node needs a wake-up. */
  peek(key: string): A | undefined {
    return this.#actors.get(key)?.actor;
  }

  keys(): Iterable<string> {
    return this.#actors.keys();
  }

  wakeAll(): void {
    for (const { actor } of this.#actors.values()) actor.wake();
  }
}
