import { Fault, unavailable } from "../../../../lib/contract/faults.ts";
import type { Share } from "../../../../lib/queue/fair-queue.ts";

/** Once half full, one tenant may hold a quarter of the slots, one caller an eighth. */
const CROWDED = 1 / 2;
const OF_TENANT = 1 / 4;
const OF_CALLER = 1 / 8;
const RETRY_AFTER_SECONDS = 1;

/** Releases a slot. */
export type Leave = () => void;

/** The slots of a node for concurrent work; nobody may hold most of them while others compete. */
export class Slots {
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
export function busyNode(why: string): Fault {
  return unavailable(`${why} Retry in ${RETRY_AFTER_SECONDS} s.`, RETRY_AFTER_SECONDS);
}
