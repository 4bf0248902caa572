import type { Api, DeliveryEvent } from "./generated/types.ts";
import { after } from "./support.ts";

interface Lease {
  /** Names the attempt; undefined with an earlier server. */
  lease: string | undefined;
  /** When to extend it, and the length of the lease. */
  due: number;
  lengthMs: number;
}

/** Limit of ids per request (spec: Limits). */
export const BATCH = 100;
const MIN_LEASE_MS = 1000;
const RETRY_MS = 1000;

/** Keeps held deliveries leased: extends each when half of its lease is over. */
export class Leases {
  readonly #api: Api;
  readonly #problem: (problem: unknown) => void;
  readonly #held = new Map<string, Lease>();
  #cancel: () => void = () => {};

  constructor(api: Api, problem: (problem: unknown) => void) {
    this.#api = api;
    this.#problem = problem;
  }

  hold({ id, lease }: Pick<DeliveryEvent, "id" | "lease">, leaseMs: number): void {
    const lengthMs = Math.max(leaseMs, MIN_LEASE_MS);
    this.#held.set(id, { lease, due: performance.now() + leaseMs / 2, lengthMs });
    this.#plan();
  }

  /** Returns the field of a request that names the leases of deliveries, of their latest attempts here. */
  named(ids: readonly string[]): { lease?: string[] } {
    const lease = ids.map((id) => this.#held.get(id)?.lease).filter((each) => each !== undefined);
    return lease.length === ids.length ? { lease } : {};
  }

  drop(id: string): void {
    this.#held.delete(id);
    if (this.#held.size === 0) this.#cancel();
  }

  clear(): void {
    this.#held.clear();
    this.#cancel();
  }

  #plan(): void {
    this.#cancel();
    if (this.#held.size === 0) return;
    const first = Math.min(...Array.from(this.#held.values(), ({ due }) => due));
    // A timer drops fractions of a millisecond, and would fire before any lease is due.
    const left = Math.max(0, Math.ceil(first - performance.now()));
    this.#cancel = after(left, () => void this.#extend());
  }

  async #extend(): Promise<void> {
    const now = performance.now();
    const due = [...this.#held].filter(([, lease]) => lease.due <= now).slice(0, BATCH);
    // A timer may still fire early: it counts from the start of the event loop tick.
    if (due.length === 0) return this.#plan();
    const longest = Math.max(...due.map(([, { lengthMs }]) => lengthMs));
    // Not again while the request is pending.
    for (const [, lease] of due) lease.due = now + longest;
    try {
      const seconds = Math.ceil(longest / 1000);
      const delivery_ids = due.map(([id]) => id);
      await this.#api.deliveries.extend(
        { delivery_ids, seconds, ...this.named(delivery_ids) },
        { retries: 0 },
      );
      for (const [, lease] of due) lease.due = now + longest / 2;
    } catch (error) {
      for (const [, lease] of due) lease.due = performance.now() + RETRY_MS;
      this.#problem(error);
    }
    this.#plan();
  }
}
