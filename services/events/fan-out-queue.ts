import type { CloudEvent } from "../../lib/cloudevents.ts";

/** An event that this node holds the fan-out lease of. */
export interface Entry {
  event_id: string;
  tenant_id: string;
  /** Null once it is matched: what waits for its stamp need not keep it. */
  event: CloudEvent | null;
  size: number;
  position: string;
  /** Milliseconds since the epoch. */
  accepted_at: number;
  /** The lease. */
  owner: string;
  /** Failed fan-outs so far. */
  attempts: number;
}

const MAX_ENTRIES_PER_TENANT = 20_000;
const MAX_BYTES = 64 * 1_048_576;

/**
 * What waits for fan-out in memory: first in, first out for each tenant, the tenants in turn. It is bounded: what
 * does not fit stays in the store, and a tenant that has spilled goes on spilling until the store's part is taken,
 * or later events would pass earlier ones.
 */
export class FanOutQueue {
  readonly #tenants = new Map<string, Entry[]>();
  /** Events that are waiting or being worked on. */
  readonly #held = new Map<string, Entry>();
  readonly #spilled = new Set<string>();
  #bytes = 0;

  /** Whether a new event of this tenant may wait here. If not, the tenant has spilled. */
  admits(tenant_id: string): boolean {
    if (!this.#spilled.has(tenant_id) && this.room(tenant_id) > 0) return true;
    this.behind(tenant_id);
    return false;
  }

  /** Whether events of this tenant wait, here or in the store. */
  waits(tenant_id: string): boolean {
    return this.#tenants.has(tenant_id) || this.#spilled.has(tenant_id);
  }

  /** The tenant has events in the store that are due and not here. */
  behind(tenant_id: string): void {
    this.#spilled.add(tenant_id);
  }

  /** How many more events of this tenant may wait here. */
  room(tenant_id: string): number {
    if (this.#bytes >= MAX_BYTES) return 0;
    return Math.max(0, MAX_ENTRIES_PER_TENANT - (this.#tenants.get(tenant_id)?.length ?? 0));
  }

  /** All that the tenant has in the store has been taken. */
  caughtUp(tenant_id: string): void {
    this.#spilled.delete(tenant_id);
  }

  /** A tenant that has spilled and has room again for at least half of what it may hold. */
  hungry(): string | null {
    for (const tenant_id of this.#spilled) {
      if (this.room(tenant_id) > MAX_ENTRIES_PER_TENANT / 2) return tenant_id;
    }
    return null;
  }

  holds(event_id: string): boolean {
    return this.#held.has(event_id);
  }

  /** Appends; an event that is held under the same lease already is not taken again. */
  push(entry: Entry): void {
    if (this.#held.get(entry.event_id)?.owner === entry.owner) return;
    this.#held.set(entry.event_id, entry);
    this.#bytes += entry.size;
    const waiting = this.#tenants.get(entry.tenant_id);
    if (waiting) waiting.push(entry);
    else this.#tenants.set(entry.tenant_id, [entry]);
  }

  /** The next batch: the oldest events of the tenant whose turn it is. Empty when nothing waits. */
  take(maxEvents: number, maxBytes: number): Entry[] {
    const [next] = this.#tenants;
    if (!next) return [];
    const [tenant_id, waiting] = next;
    let count = 0;
    let bytes = 0;
    while (count < waiting.length && count < maxEvents) {
      bytes += (waiting[count] as Entry).size;
      if (count > 0 && bytes > maxBytes) break;
      count++;
    }
    const batch = waiting.splice(0, count);
    // To the end of the line.
    this.#tenants.delete(tenant_id);
    if (waiting.length) this.#tenants.set(tenant_id, waiting);
    return batch;
  }

  /** Puts a batch back where it came from, to be tried again. */
  putBack(batch: Entry[]): void {
    const [first] = batch;
    if (!first) return;
    this.#tenants.set(first.tenant_id, [...batch, ...(this.#tenants.get(first.tenant_id) ?? [])]);
  }

  /** An event that was taken is worked off, or given up to the store. */
  release(entry: Entry): void {
    if (this.#held.get(entry.event_id) === entry) this.#held.delete(entry.event_id);
    this.#bytes -= entry.size;
  }

  get size(): number {
    return this.#held.size;
  }
}
