import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";

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
  /** Its end, in milliseconds since the epoch. */
  leased_until: number;
  /** Failed fan-outs so far. */
  attempts: number;
}

const MAX_ENTRIES_PER_TENANT = 20_000;
const MAX_BYTES = 64 * 1_048_576;
/** Bytes that a tenant may hold when others fill the queue. */
const RESERVED_BYTES = 256 * 1024;
/** Bytes that cost as much as an event, or a receiver. */
const BYTES_PER_UNIT = 1024;
/** Idle lanes are forgotten from so many on. */
const FORGET_FROM = 64;

/** What one tenant has here. */
class Lane {
  waiting: Entry[] = [];
  /** Of all entries that are waiting or being worked on. */
  bytes = 0;
  /** Batches being worked on. */
  batches = 0;
  /** In events, receivers and bytes. Of the lanes that wait, the one charged least is next. */
  charged: number;

  constructor(charged: number) {
    this.charged = charged;
  }

  get idle(): boolean {
    return this.batches === 0 && this.bytes === 0 && this.waiting.length === 0;
  }
}

/**
 * What waits for fan-out in memory: first in, first out for each tenant, and divided by cost among tenants. It is
 * bounded: what does not fit stays in the store, and a tenant that has spilled goes on spilling until the store's part
 * is taken, or later events would pass earlier ones. No tenant takes more bytes than it leaves free, so that there is
 * always capacity for another.
 */
export class FanOutQueue {
  readonly #lanes = new Map<string, Lane>();
  /** Events that are waiting or being worked on. */
  readonly #held = new Map<string, Entry>();
  /** In the order in which the store's part is taken. */
  readonly #spilled = new Set<string>();
  #bytes = 0;
  #batches = 0;
  /** What the lane served last had been charged: a newcomer starts there, so idle time is not saved up. */
  #clock = 0;

  /** Whether a new event of this tenant may wait here. If not, the tenant has spilled. */
  admits(tenant_id: string): boolean {
    if (!this.#spilled.has(tenant_id) && this.room(tenant_id) > 0) return true;
    this.#spilled.add(tenant_id);
    return false;
  }

  /** Whether events of this tenant wait, here or in the store. */
  waits(tenant_id: string): boolean {
    return this.#spilled.has(tenant_id) || Boolean(this.#lanes.get(tenant_id)?.waiting.length);
  }

  /** The tenant has events in the store that are due and not here; those of others are taken first. */
  behind(tenant_id: string): void {
    this.#spilled.delete(tenant_id);
    this.#spilled.add(tenant_id);
  }

  /** How many more events of this tenant may wait here. */
  room(tenant_id: string): number {
    const lane = this.#lanes.get(tenant_id);
    const free = Math.max(MAX_BYTES - this.#bytes, RESERVED_BYTES);
    if (lane && lane.bytes >= free) return 0;
    return Math.max(0, MAX_ENTRIES_PER_TENANT - (lane?.waiting.length ?? 0));
  }

  /** All that the tenant has in the store has been taken. */
  caughtUp(tenant_id: string): void {
    this.#spilled.delete(tenant_id);
  }

  /** The next tenant that has spilled and has room again for at least half of what it may hold. */
  hungry(): string | null {
    for (const tenant_id of this.#spilled) {
      if (this.room(tenant_id) > MAX_ENTRIES_PER_TENANT / 2) return tenant_id;
    }
    return null;
  }

  /** The event as it waits here or is worked on. */
  held(event_id: string): Entry | undefined {
    return this.#held.get(event_id);
  }

  /** Appends; an event that is held under the same lease already is not taken again. */
  push(entry: Entry): void {
    if (this.#held.get(entry.event_id)?.owner === entry.owner) return;
    this.#held.set(entry.event_id, entry);
    const lane = this.#lane(entry.tenant_id);
    if (lane.waiting.length === 0) lane.charged = Math.max(lane.charged, this.#clock);
    lane.waiting.push(entry);
    lane.bytes += entry.size;
    this.#bytes += entry.size;
  }

  /**
   * The next batch: the oldest events of the tenant that was charged least, of those that have not their share of the
   * batches at work. Empty when there is none. The batch is at work until `finish`.
   *
   * @param places batches at work at once; one more for a tenant that has none
   */
  take(maxEvents: number, maxBytes: number, places = Number.POSITIVE_INFINITY): Entry[] {
    const lane = this.#next(places);
    if (!lane) return [];
    let count = 0;
    let bytes = 0;
    while (count < lane.waiting.length && count < maxEvents) {
      const { size } = lane.waiting[count] as Entry;
      if (count > 0 && bytes + size > maxBytes) break;
      bytes += size;
      count++;
    }
    this.#clock = Math.max(this.#clock, lane.charged);
    lane.charged += count + bytes / BYTES_PER_UNIT;
    lane.batches++;
    this.#batches++;
    return lane.waiting.splice(0, count);
  }

  /** A batch of this tenant is no longer at work. */
  finish(tenant_id: string): void {
    this.#lane(tenant_id).batches--;
    this.#batches--;
  }

  /** Charges the tenant for receivers that its events had. */
  charge(tenant_id: string, receivers: number): void {
    this.#lane(tenant_id).charged += receivers;
  }

  /** Puts a batch back where it came from, to be tried again. */
  putBack(batch: Entry[]): void {
    const [first] = batch;
    if (!first) return;
    const lane = this.#lane(first.tenant_id);
    lane.waiting = [...batch, ...lane.waiting];
  }

  /** An event that was taken is worked off, or given up to the store. */
  release(entry: Entry): void {
    if (this.#held.get(entry.event_id) === entry) this.#held.delete(entry.event_id);
    this.#lane(entry.tenant_id).bytes -= entry.size;
    this.#bytes -= entry.size;
  }

  get size(): number {
    return this.#held.size;
  }

  #next(places: number): Lane | null {
    const busy = [...this.#lanes.values()].filter(({ waiting, batches }) => waiting.length || batches);
    const share = Math.max(1, Math.floor(places / busy.length));
    const mayStart = ({ batches }: Lane) =>
      batches === 0 ? this.#batches <= places : this.#batches < places && batches < share;
    const waiting = busy.filter((lane) => lane.waiting.length > 0 && mayStart(lane));
    return waiting.length ? waiting.reduce((a, b) => (b.charged < a.charged ? b : a)) : null;
  }

  #lane(tenant_id: string): Lane {
    const known = this.#lanes.get(tenant_id);
    if (known) return known;
    if (this.#lanes.size >= FORGET_FROM) this.#forgetIdle();
    const lane = new Lane(this.#clock);
    this.#lanes.set(tenant_id, lane);
    return lane;
  }

  /** A lane that was charged more than the clock is kept: it would lose its debt. */
  #forgetIdle(): void {
    for (const [tenant_id, lane] of this.#lanes)
      if (lane.idle && lane.charged <= this.#clock) this.#lanes.delete(tenant_id);
  }
}
