import { upToSize } from "../../../lib/broker/between-nodes.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";

/** An event whose fan-out lease this node holds. */
export interface Entry {
  event_id: string;
  tenant_id: string;
  /** Null once matched: entries that wait for their stamp need not keep it. */
  event: CloudEvent | null;
  size: number;
  position: string;
  /** When it was accepted, or later if it was delayed: milliseconds since the epoch. */
  due_at: number;
  owner: string;
  /** End of the lease, in milliseconds since the epoch. */
  leased_until: number;
  /** Failed fan-outs so far. */
  attempts: number;
}

const MAX_ENTRIES_PER_TENANT = 20_000;
const MAX_BYTES = 64 * 1_048_576;
/** Bytes guaranteed to a tenant when others fill the queue. */
const RESERVED_BYTES = 256 * 1024;

class TenantQueue {
  waiting: Entry[] = [];
  /** Bytes of all its entries, waiting or in progress. */
  bytes = 0;
}

/**
 * The events in memory that wait for fan-out or are in progress: first in, first out within a tenant. It is bounded:
 * events beyond its capacity stay in the store, and a tenant that has spilled keeps spilling until its stored events are
 * claimed, or later events would overtake earlier ones. No tenant takes more bytes than it leaves free, so that there is
 * always capacity for another.
 */
export class FanOutQueue {
  readonly #tenants = new Map<string, TenantQueue>();
  readonly #held = new Map<string, Entry>();
  /** In the order in which stored events are claimed. */
  readonly #spilled = new Set<string>();
  #bytes = 0;

  /** Events waiting or in progress here, and the number of tenants with more in the store. */
  get load() {
    return { events: this.#held.size, bytes: this.#bytes, spilled: this.#spilled.size };
  }

  get waiting(): string[] {
    return [...this.#tenants].filter(([, { waiting }]) => waiting.length > 0).map(([tenant_id]) => tenant_id);
  }

  /** Whether a new event of this tenant may be queued here. If not, the tenant has spilled. */
  admits(tenant_id: string): boolean {
    if (!this.#spilled.has(tenant_id) && this.capacity(tenant_id) > 0) return true;
    this.#spilled.add(tenant_id);
    return false;
  }

  /** Whether events of this tenant wait here or in the store: later ones would overtake them. */
  isBehind(tenant_id: string): boolean {
    return this.#spilled.has(tenant_id) || (this.#tenants.get(tenant_id)?.waiting.length ?? 0) > 0;
  }

  /** Marks a tenant with due events in the store; other tenants' are claimed first. */
  markSpilled(tenant_id: string): void {
    this.#spilled.delete(tenant_id);
    this.#spilled.add(tenant_id);
  }

  capacity(tenant_id: string): number {
    const queue = this.#tenants.get(tenant_id);
    const free = Math.max(MAX_BYTES - this.#bytes, RESERVED_BYTES);
    if (queue && queue.bytes >= free) return 0;
    return Math.max(0, MAX_ENTRIES_PER_TENANT - (queue?.waiting.length ?? 0));
  }

  markCaughtUp(tenant_id: string): void {
    this.#spilled.delete(tenant_id);
  }

  /** Returns the next spilled tenant that has at least half of its capacity free. */
  nextSpilled(): string | null {
    for (const tenant_id of this.#spilled) {
      if (this.capacity(tenant_id) > MAX_ENTRIES_PER_TENANT / 2) return tenant_id;
    }
    return null;
  }

  get(event_id: string): Entry | undefined {
    return this.#held.get(event_id);
  }

  /** Appends an event, unless it is held under the same lease already. */
  push(entry: Entry): void {
    const { event_id, tenant_id, owner, size } = entry;
    if (this.#held.get(event_id)?.owner === owner) return;
    this.#held.set(event_id, entry);
    const queue = this.#tenants.get(tenant_id) ?? new TenantQueue();
    this.#tenants.set(tenant_id, queue);
    queue.waiting.push(entry);
    queue.bytes += size;
    this.#bytes += size;
  }

  /** Takes a tenant's oldest events; at least one, if any waits. They are in progress until they are released. */
  take(tenant_id: string, maxEvents: number, maxBytes = Number.POSITIVE_INFINITY): Entry[] {
    const waiting = this.#tenants.get(tenant_id)?.waiting ?? [];
    const batch = upToSize(waiting.slice(0, maxEvents), ({ size }) => size, maxBytes);
    return waiting.splice(0, batch.length);
  }

  /** Returns a batch to the front of its tenant's events for a retry. */
  putBack(batch: Entry[]): void {
    this.#tenants.get(batch[0]?.tenant_id ?? "")?.waiting.unshift(...batch);
  }

  /** Removes an event that is done or was returned to the store. */
  release(entry: Entry): void {
    const { event_id, tenant_id, size } = entry;
    if (this.#held.get(event_id) === entry) this.#held.delete(event_id);
    const queue = this.#tenants.get(tenant_id) as TenantQueue;
    queue.bytes -= size;
    this.#bytes -= size;
    if (queue.bytes === 0) this.#tenants.delete(tenant_id);
  }
}
