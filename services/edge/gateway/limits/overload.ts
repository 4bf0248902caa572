import type { Operation } from "../../../../lib/contract/contract.ts";
import { unavailable } from "../../../../lib/contract/faults.ts";
import type { FairQueue, Share } from "../../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../../observability/resources.ts";

const SAMPLE_MS = 250;
/** Limits of open streams and changes that wait: in total, and per caller. */
const MAX_OPEN = 20_000;
const MAX_OPEN_OF_CALLER = 200;

/** Gives a place back, once. */
export type Leave = () => void;

/**
 * Refuses work that would only wait (spec: service_unavailable): with too many writes or streams, or if the event loop
 * is late by more than a second twice in a row (it recovers from a single pause). Reads are not counted: thousands of
 * waiting polls cost nothing.
 */
export class Overload {
  readonly #maxLagMs: number;
  /** With as many reserved for those that free capacity, or keep work alive. */
  readonly #writes: FairQueue;
  /** Streams, and changes that may wait for long: a wait takes no place of writes. */
  readonly #open = resourceQueue("streams", {
    ...{ capacity: MAX_OPEN, perCaller: MAX_OPEN_OF_CALLER, maxWaiting: 0 },
  });
  #lagMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxWrites: number, maxLagMs = 1000) {
    const bounds = { capacity: maxWrites, reserve: maxWrites, perCaller: Math.ceil(maxWrites / 4) };
    this.#writes = resourceQueue("writes", { ...bounds, maxWaiting: 0 });
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

  /**
   * @throws Fault service_unavailable while the event loop is late, except for reads without a token, which report the
   * state
   */
  requireTimely({ method, access }: Operation): void {
    if (method === "GET" && access.by === "public") return;
    if (this.#lagMs > this.#maxLagMs) throw unavailable("This node is overloaded. Retry in 1 s.");
  }

  /** Takes a place for a write or a stream; null for uncounted operations. @throws Fault as `FairQueue.enter` */
  enter(op: Operation, share: Share): Leave | null {
    if (op.stream) return this.#open.enter(share);
    if (op.method === "GET") return null;
    return op.waits ? this.#open.enter(share) : this.#writes.enter(share, 1, op.reserved);
  }
}
