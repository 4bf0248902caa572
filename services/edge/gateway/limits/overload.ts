import type { Operation } from "../../../../lib/contract/contract.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { busyNode, type Leave, Slots } from "./slots.ts";

const SAMPLE_MS = 250;
/** Limits of open streams: in total, and per caller. */
const MAX_STREAMS = 10_000;
const MAX_STREAMS_OF_CALLER = 100;

/**
 * Refuses work that would only wait (spec: service_unavailable): with too many writes or streams, or if the event loop
 * is late by more than a second twice in a row (it recovers from a single pause). Reads are not counted: thousands of
 * waiting polls cost nothing.
 */
export class Overload {
  readonly #maxLagMs: number;
  readonly #writes: Slots;
  /** Apart from other writes, which could take all slots: these free capacity, or keep work alive. */
  readonly #reserved: Slots;
  readonly #streams = new Slots("streams", MAX_STREAMS, MAX_STREAMS_OF_CALLER);
  #lagMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxWrites: number, maxLagMs = 1000) {
    this.#writes = new Slots("writes", maxWrites);
    this.#reserved = new Slots("acknowledgements", maxWrites);
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
    if (this.#lagMs > this.#maxLagMs) throw busyNode("This node is overloaded.");
  }

  /** Takes a slot for a write or a stream; null for uncounted operations. @throws Fault as `Slots.enter` */
  enter(op: Operation, share: Share): Leave | null {
    if (op.stream) return this.#streams.enter(share);
    if (op.method === "GET") return null;
    return (op.reserved ? this.#reserved : this.#writes).enter(share);
  }
}
