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
/** Bytes that cost as much as an event or a receiver. */
const BYTES_PER_UNIT = 1024;
/** Remove idle tenants above this number. */
const FORGET_FROM = 64;

/** One tenant's part of the queue. */
class TenantQueue {
  waiting: Entry[] = [];
  /** Bytes of all its entries, waiting or in progress. */
  bytes = 0;
  /** Batches in progress. */
  batches = 0;
  /** Cost so far, in events, receivers and bytes. The waiting queue with the lowest is next. */
  charged: number;

  constructor(charged: number) {
    this.charged = charged;
  }

  get idle(): boolean {
    return this.batches === 0 && this.bytes === 0 && this.waiting.length === 0;
  }
}

/** The load of the queue: see `FanOutQueue.load`. */
export interface FanOutLoad {
  events: number;
  bytes: number;
  batches: number;
  spilled: number;
}

/**
 * The in-memory fan-out queue: first in, first out within a tenant, and shared fairly by cost between tenants. It is
 * bounded: events beyond its capacity stay in the store, and a tenant that has spilled keeps spilling until its stored
 * events are claimed, or later events would overtake earlier ones. No tenant takes more bytes than it leaves free, so
 * that there is always capacity for another.
 */
export class FanOutQueue {
  readonly #tenants = new Map<string, TenantQueue>();
  /** Events waiting or in progress. */
  readonly #held = new Map<string, Entry>();
  /** In the order in which stored events are claimed. */
  readonly #spilled = new Set<string>();
  #bytes = 0;
  #batches = 0;
  /** Cost of the queue served last: a new queue starts there, so idle time earns no credit. */
  #clock = 0;

  /** What is waiting or in progress here, and the tenants with more in the store. */
  get load(): FanOutLoad {
    return {
      events: this.#held.size,
      bytes: this.#bytes,
      batches: this.#batches,
      spilled: this.#spilled.size,
    };
  }

  /** Whether a new event of this tenant may be queued here. If not, the tenant has spilled. */
  admits(tenant_id: string): boolean {
    if (!this.#spilled.has(tenant_id) && this.capacity(tenant_id) > 0) return true;
    this.#spilled.add(tenant_id);
    return false;
  }

  /** Marks a tenant with due events in the store; other tenants' are claimed first. */
  markSpilled(tenant_id: string): void {
    this.#spilled.delete(tenant_id);
    this.#spilled.add(tenant_id);
  }

  /** Returns the queue's capacity for more events of this tenant. */
  capacity(tenant_id: string): number {
    const queue = this.#tenants.get(tenant_id);
    const free = Math.max(MAX_BYTES - this.#bytes, RESERVED_BYTES);
    if (queue && queue.bytes >= free) return 0;
    return Math.max(0, MAX_ENTRIES_PER_TENANT - (queue?.waiting.length ?? 0));
  }

  /** Marks a tenant whose stored events are all claimed. */
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

  /** Returns the entry, waiting or in progress. */
  get(event_id: string): Entry | undefined {
    return this.#held.get(event_id);
  }

  /** Appends an event, unless it is held under the same lease already. */
  push(entry: Entry): void {
    if (this.#held.get(entry.event_id)?.owner === entry.owner) return;
    this.#held.set(entry.event_id, entry);
    const queue = this.#queueOf(entry.tenant_id);
    if (queue.waiting.length === 0) queue.charged = Math.max(queue.charged, this.#clock);
    queue.waiting.push(entry);
    queue.bytes += entry.size;
    this.#bytes += entry.size;
  }

  /**
   * Takes the next batch: the oldest events of the tenant with the lowest cost that has not used up its share of the
   * batches in progress. Empty without one. The batch is in progress until `finish`.
   *
   * @param places limit of batches in progress; one more for a tenant that has none
   */
  take(maxEvents: number, maxBytes: number, places = Number.POSITIVE_INFINITY): Entry[] {
    const queue = this.#next(places);
    if (!queue) return [];
    let count = 0;
    let bytes = 0;
    while (count < queue.waiting.length && count < maxEvents) {
      const { size } = queue.waiting[count] as Entry;
      if (count > 0 && bytes + size > maxBytes) break;
      bytes += size;
      count++;
    }
    this.#clock = Math.max(this.#clock, queue.charged);
    queue.charged += count + bytes / BYTES_PER_UNIT;
    queue.batches++;
    this.#batches++;
    return queue.waiting.splice(0, count);
  }

  /** Ends a batch of this tenant. */
  finish(tenant_id: string): void {
    this.#queueOf(tenant_id).batches--;
    this.#batches--;
  }

  /** Charges the tenant for its events' receivers. */
  charge(tenant_id: string, receivers: number): void {
    this.#queueOf(tenant_id).charged += receivers;
  }

  /** Returns a batch to the front of the queue for a retry. */
  putBack(batch: Entry[]): void {
    const [first] = batch;
    if (!first) return;
    const queue = this.#queueOf(first.tenant_id);
    queue.waiting = [...batch, ...queue.waiting];
  }

  /** Removes an event that is done or was returned to the store. */
  release(entry: Entry): void {
    if (this.#held.get(entry.event_id) === entry) this.#held.delete(entry.event_id);
    this.#queueOf(entry.tenant_id).bytes -= entry.size;
    this.#bytes -= entry.size;
  }

  #next(places: number): TenantQueue | null {
    const busy = [...this.#tenants.values()].filter(({ waiting, batches }) => waiting.length || batches);
    const share = Math.max(1, Math.floor(places / busy.length));
    const mayStart = ({ batches }: TenantQueue) =>
      batches === 0 ? this.#batches <= places : this.#batches < places && batches < share;
    const waiting = busy.filter((queue) => queue.waiting.length > 0 && mayStart(queue));
    return waiting.length ? waiting.reduce((a, b) => (b.charged < a.charged ? b : a)) : null;
  }

  #queueOf(tenant_id: string): TenantQueue {
    const known = this.#tenants.get(tenant_id);
    if (known) return known;
    if (this.#tenants.size >= FORGET_FROM) this.#forgetIdle();
    const queue = new TenantQueue(this.#clock);
    this.#tenants.set(tenant_id, queue);
    return queue;
  }

  /** Keep queues with a cost above the clock: they would lose their debt. */
  #forgetIdle(): void {
    for (const [tenant_id, queue] of this.#tenants)
      if (queue.idle && queue.charged <= this.#clock) this.#tenants.delete(tenant_id);
  }
}
