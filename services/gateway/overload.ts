import type { Operation } from "../../lib/contract.ts";
import { Fault } from "../../lib/faults.ts";

const SAMPLE_MS = 250;
const RETRY_AFTER_SECONDS = 1;

/**
 * Refuses work that would only wait (spec: service_unavailable): too many writes under way, or an event loop that is
 * late by more than a second twice in a row, as after a single pause it can serve again. Reads are not counted:
 * thousands of polls may wait without cost.
 */
export class Overload {
  readonly #maxWrites: number;
  readonly #maxLagMs: number;
  #writes = 0;
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

  /** Lets a request in; whoever gets true calls `leave` when it is over. @throws Fault service_unavailable */
  enter(op: Operation): boolean {
    if (op.method === "GET") {
      if (op.access.by !== "public") this.#requireTimely();
      return false;
    }
    this.#requireTimely();
    // What it carries out over its connection is counted by itself.
    if (op.stream) return false;
    if (this.#writes >= this.#maxWrites) throw busy("Too many writes are under way here.");
    this.#writes++;
    return true;
  }

  leave(): void {
    this.#writes--;
  }

  #requireTimely(): void {
    if (this.#lagMs > this.#maxLagMs) throw busy("This node is overloaded.");
  }
}

function busy(why: string): Fault {
  const retry_after_seconds = RETRY_AFTER_SECONDS;
  return new Fault("service_unavailable", `${why} Try again in ${retry_after_seconds} s.`, {
    retry_after_seconds,
  });
}
