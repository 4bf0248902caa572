import type { Operation } from "../../../../lib/contract/contract.ts";
import { Fault, unavailable } from "../../../../lib/contract/faults.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";

const SAMPLE_MS = 250;
/** Limits of open streams, and of changes that wait: in total, and per caller. */
const MAX_STREAMS = 10_000;
const MAX_STREAMS_OF_CALLER = 100;

/** Once half full, one tenant may hold a quarter of the slots, one caller an eighth. */
const CROWDED = 1 / 2;
const OF_TENANT = 1 / 4;
const OF_CALLER = 1 / 8;
const RETRY_AFTER_SECONDS = 1;

/** Releases a slot. */
export type Leave = () => void;

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
  /** Changes that may wait for long afterwards: a wait takes no slot of writes. */
  readonly #waiting = new Slots("waiting requests", MAX_STREAMS, MAX_STREAMS_OF_CALLER);
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
    if (op.waits) return this.#waiting.enter(share);
    return (op.reserved ? this.#reserved : this.#writes).enter(share);
  }
}

/** The slots of a node for concurrent work; nobody may hold most of them while others compete. */
class Slots {
  readonly #what: string;
  readonly #max: number;
  readonly #maxOfCaller: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param what the name in messages, such as `writes` */
  constructor(what: string, max: number, maxOfCaller = max) {
    this.#what = what;
    this.#max = max;
    this.#maxOfCaller = maxOfCaller;
  }

  /** @throws Fault rate_limited while the tenant or the caller exceeds its share, service_unavailable when full */
  enter({ tenant_id, caller }: Share): Leave {
    const keys = [tenant_id, `${tenant_id} ${caller}`] as const;
    this.#requireFree(keys);
    this.#count(keys, 1);
    return () => this.#count(keys, -1);
  }

  #requireFree([tenant, caller]: readonly [string, string]): void {
    const heldBy = (key: string) => this.#held.get(key) ?? 0;
    if (this.#total >= this.#max) throw busyNode(`Too many ${this.#what} are in progress on this node.`);
    if (heldBy(caller) >= this.#maxOfCaller) throw this.#tooMany();
    if (this.#total < this.#max * CROWDED) return;
    if (heldBy(tenant) >= this.#max * OF_TENANT || heldBy(caller) >= this.#max * OF_CALLER)
      throw this.#tooMany();
  }

  #count(keys: readonly string[], by: number): void {
    this.#total += by;
    for (const key of keys) {
      const count = (this.#held.get(key) ?? 0) + by;
      if (count) this.#held.set(key, count);
      else this.#held.delete(key);
    }
  }

  #tooMany(): Fault {
    const message = `Too many of your ${this.#what} are in progress on this node. Retry in ${RETRY_AFTER_SECONDS} s.`;
    return new Fault("rate_limited", message, { retry_after_seconds: RETRY_AFTER_SECONDS });
  }
}

/** @param why a sentence */
function busyNode(why: string): Fault {
  return unavailable(`${why} Retry in ${RETRY_AFTER_SECONDS} s.`, RETRY_AFTER_SECONDS);
}
