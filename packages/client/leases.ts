import type { Api } from "./generated/types.ts";

interface Lease {
  /** When it is to be extended, and for how long. */
  due: number;
  lengthMs: number;
}

/** At most so many ids go into one request (spec: Limits). */
export const BATCH = 100;
const SHORTEST_MS = 1000;
const LATER_MS = 1000;

/** Keeps deliveries leased for as long as they are held: each is extended when half of its lease is over. */
export class Leases {
  readonly #api: Api;
  readonly #problem: (problem: unknown) => void;
  readonly #held = new Map<string, Lease>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, problem: (problem: unknown) => void) {
    this.#api = api;
    this.#problem = problem;
  }

  hold(id: string, leaseMs: number): void {
    const lengthMs = Math.max(leaseMs, SHORTEST_MS);
    this.#held.set(id, { due: performance.now() + leaseMs / 2, lengthMs });
    this.#plan();
  }

  drop(id: string): void {
    this.#held.delete(id);
    if (this.#held.size === 0) clearTimeout(this.#timer);
  }

  clear(): void {
    this.#held.clear();
    clearTimeout(this.#timer);
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#held.size === 0) return;
    const first = Math.min(...Array.from(this.#held.values(), ({ due }) => due));
    // A timer cuts off what is less than a millisecond, and would come before any is due.
    this.#timer = setTimeout(() => void this.#extend(), Math.max(0, Math.ceil(first - performance.now())));
  }

  async #extend(): Promise<void> {
    const now = performance.now();
    const due = [...this.#held].filter(([, lease]) => lease.due <= now).slice(0, BATCH);
    // It may come early all the same: it counts from when the loop began its round.
    if (due.length === 0) return this.#plan();
    const longest = Math.max(...due.map(([, { lengthMs }]) => lengthMs));
    // Not again while this is under way.
    for (const [, lease] of due) lease.due = now + longest;
    try {
      const seconds = Math.ceil(longest / 1000);
      await this.#api.deliveries.extend({ delivery_ids: due.map(([id]) => id), seconds }, { retries: 0 });
      for (const [, lease] of due) lease.due = now + longest / 2;
    } catch (error) {
      for (const [, lease] of due) lease.due = performance.now() + LATER_MS;
      this.#problem(error);
    }
    this.#plan();
  }
}
