import type { Operation } from "../../lib/contract.ts";
import type { Share } from "../../lib/fair-queue.ts";
import { Fault } from "../../lib/faults.ts";

const SAMPLE_MS = 250;
const RETRY_AFTER_SECONDS = 1;

/** From half full on, one tenant may hold a quarter of the writes, one caller an eighth. */
const CROWDED = 1 / 2;
const OF_TENANT = 1 / 4;
const OF_CALLER = 1 / 8;

/** Takes a write off the count. */
export type Leave = () => void;

/**
 * Refuses work that would only wait (spec: service_unavailable): too many writes under way, or an event loop that is
 * late by more than a second twice in a row, as after a single pause it can serve again. Reads are not counted:
 * thousands of polls may wait without cost.
 */
export class Overload {
  readonly #maxWrites: number;
  readonly #maxLagMs: number;
  readonly #writes = new Map<string, number>();
  #total = 0;
  #lagMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxWrites: number, maxLagMs = 1000) {
    this.#maxWrites = maxWrites;
    this.#maxLagMs = maxLagMs;
  }

  start(): void {
    let due = performance.now() + SAMPLE_MS;
    let before = 0;
    this.#timer = setInterval(() => {
      const now = performance.now();
      const late = now - due;
      this.#lagMs = Math.min(before, late);
      before = late;
      due = now + SAMPLE_MS;
    }, SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @throws Fault service_unavailable while the event loop is late, but for reads without a token: they tell how it is */
  requireTimely({ method, access }: Operation): void {
    if (method === "GET" && access.by === "public") return;
    if (this.#lagMs > this.#maxLagMs) throw busy("This node is overloaded.");
  }

  /**
   * Counts a write until `Leave` is called; null for what is not counted.
   *
   * @throws Fault rate_limited while the tenant or the caller holds more than its part, service_unavailable when full
   */
  enter(op: Operation, { tenant_id, caller }: Share): Leave | null {
    // What a stream carries out is counted by itself.
    if (op.method === "GET" || op.stream) return null;
    const keys = [tenant_id, `${tenant_id} ${caller}`] as const;
    this.#requirePlace(keys);
    this.#count(keys, 1);
    return () => this.#count(keys, -1);
  }

  #requirePlace([tenant, caller]: readonly [string, string]): void {
    if (this.#total >= this.#maxWrites) throw busy("Too many writes are in progress on this node.");
    if (this.#total < this.#maxWrites * CROWDED) return;
    const isOver = (key: string, part: number) => (this.#writes.get(key) ?? 0) >= this.#maxWrites * part;
    if (isOver(tenant, OF_TENANT) || isOver(caller, OF_CALLER)) throw tooMany();
  }

  #count(keys: readonly string[], by: number): void {
    this.#total += by;
    for (const key of keys) {
      const count = (this.#writes.get(key) ?? 0) + by;
      if (count) this.#writes.set(key, count);
      else this.#writes.delete(key);
    }
  }
}

function tooMany(): Fault {
  const message = `Too many of your writes are in progress on this node. Retry in ${RETRY_AFTER_SECONDS} s.`;
  return new Fault("rate_limited", message, { retry_after_seconds: RETRY_AFTER_SECONDS });
}

function busy(why: string): Fault {
  const retry_after_seconds = RETRY_AFTER_SECONDS;
  return new Fault("service_unavailable", `${why} Retry in ${retry_after_seconds} s.`, {
    retry_after_seconds,
  });
}
