import { upToSize } from "../../../lib/broker/between-nodes.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { parseEnvelope } from "../../../lib/filter/filter.ts";
import { asBackground } from "../../../lib/queue/work.ts";
import { pastGroup } from "../../../mixins/queue.ts";
import { Quiet } from "../../../mixins/quiet.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { EventDeps, EventDoc } from "./events.model.ts";
import type { Entry, FanOutQueue } from "./fan-out-queue.ts";
import { fanoutKey, keyRange, positionFrom } from "./position.ts";

/** How long a node holds an event's lease; afterwards any node may claim its fan-out. */
export const LEASE_MS = 10_000;

/** Returns the end of a lease taken at a time. An embedded store has one node, which keeps its leases. */
export function leaseEnd({ driver }: Pick<Store, "driver">, at: number): number {
  return driver === "sqlite" ? Number.POSITIVE_INFINITY : at + LEASE_MS;
}

const MAX_TENANTS = 50;
const MAX_CLAIM = 500;
const MAX_CLAIM_BYTES = 8 * 1_048_576;

interface SweepDeps extends EventDeps {
  queue: FanOutQueue;
  /** Identifies this process in its leases. */
  instance: string;
  /** Called for an event whose envelope cannot be parsed. */
  onUnreadable(row: EventDoc): Promise<void>;
}

/** Claims events that are due for fan-out from the store: spilled ones, retries, and those leased by a crashed node. */
export class FanOutSweep {
  readonly #deps: SweepDeps;
  /** Where to continue iterating over tenants. */
  #after = "";
  /** Whether this iteration found any due event. */
  #found = false;
  #claims = 0;
  readonly #quiet: Quiet;
  /** An embedded store has one node: leases from before this process started are due at once. */
  #recoverUntil: number | null;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
    const { store, events } = deps;
    // Every look but an empty one is followed by another.
    this.#quiet = new Quiet(events.name, () => 0);
    this.#recoverUntil = store.driver === "sqlite" ? store.now() + LEASE_MS : null;
  }

  /** Visits tenants with due events in order and claims as many as fit. */
  async run(): Promise<void> {
    for (let visited = 0; visited < MAX_TENANTS; visited++) {
      const isFirst = this.#after === "";
      if (isFirst && this.#quiet.isQuiet) return;
      if (isFirst) this.#quiet.begin();
      const oldest = await firstAfter(this.#deps.events, this.#after);
      if (!oldest && isFirst) await this.#quiet.foundNothing(() => false);
      if (!oldest) return this.#startOver();
      const { tenant_id, fanout_key } = oldest;
      this.#after = pastGroup(keyRange(tenant_id).before, fanout_key as string);
      if ((fanout_key as string) > this.#dueBefore(tenant_id)) continue;
      this.#found = true;
      await this.claim(tenant_id);
    }
  }

  #startOver(): void {
    if (!this.#found) this.#recoverUntil = null;
    this.#after = "";
    this.#found = false;
  }

  /** Claims as many of a tenant's due events as fit. If that fails, other tenants are next. */
  async claim(tenant_id: string): Promise<void> {
    try {
      await asBackground(tenant_id, "fan-out", () => this.#claim(tenant_id));
    } catch (err) {
      this.#deps.queue.markSpilled(tenant_id);
      throw err;
    }
  }

  async #claim(tenant_id: string): Promise<void> {
    const { events, queue } = this.#deps;
    const limit = Math.min(queue.capacity(tenant_id), MAX_CLAIM);
    if (limit === 0) return queue.markSpilled(tenant_id);
    const due = { $gt: keyRange(tenant_id).after, $lte: this.#dueBefore(tenant_id) };
    const options = { sort: { fanout_key: 1 }, limit, projection: { size: 1 } } as const;
    const rows = await events.find(tenant_id, { fanout_key: due }, options);
    const held = rows.filter((row) => queue.get(row._id));
    const unheld = rows.filter((row) => !queue.get(row._id));
    const claimable = upToSize(unheld, ({ size }) => size, MAX_CLAIM_BYTES);
    if (held.length) await this.#renew(tenant_id, held, due);
    if (claimable.length) await this.#claimRows(tenant_id, claimable, due);
    const all = rows.length < limit && held.length + claimable.length === rows.length;
    if (all) queue.markCaughtUp(tenant_id);
    else queue.markSpilled(tenant_id);
  }

  /** Renews leases of events that wait here; if another node has claimed some, they wait until the lease here ends. */
  async #renew(tenant_id: string, rows: EventDoc[], due: object): Promise<void> {
    const { queue, store } = this.#deps;
    const leased_until = leaseEnd(store, store.now());
    if ((await this.#lease(tenant_id, rows, due, {})) < rows.length) return;
    for (const row of rows) {
      const entry = queue.get(row._id);
      if (entry) entry.leased_until = leased_until;
    }
  }

  async #claimRows(tenant_id: string, rows: EventDoc[], due: object): Promise<void> {
    const { events, queue, instance, onUnreadable } = this.#deps;
    const owner = `${instance} ${++this.#claims}`;
    const leased_until = leaseEnd(this.#deps.store, this.#deps.store.now());
    await this.#lease(tenant_id, rows, due, { fanout_owner: owner });
    const own = { _id: { $in: rows.map((row) => row._id) }, fanout_owner: owner };
    const claimed = await events.find(tenant_id, own, { bounded: "sizes were added up" });
    claimed.sort((a, b) => (a.position < b.position ? -1 : 1));
    for (const row of claimed) {
      const entry = read(row, leased_until);
      if (entry) queue.push(entry);
      else await onUnreadable(row);
    }
  }

  async #lease(tenant_id: string, rows: EventDoc[], due: object, more: Partial<EventDoc>): Promise<number> {
    const { events, store } = this.#deps;
    const fanout_key = fanoutKey(tenant_id, store.now() + LEASE_MS);
    const stillDue = { _id: { $in: rows.map((row) => row._id) }, fanout_key: due };
    return events.updateMany(tenant_id, stillDue, { $set: { fanout_key, ...more } });
  }

  #dueBefore(tenant_id: string): string {
    return fanoutKey(tenant_id, Math.max(this.#deps.store.now(), this.#recoverUntil ?? 0));
  }
}

/** Returns the first event behind a position that waits for its fan-out. */
const firstAfter = (events: TenantCollection<EventDoc>, after: string) =>
  events.system.findOne({ fanout_key: { $gt: after } }, FIRST) as Promise<EventDoc | null>;

const FIRST = {
  sort: { fanout_key: 1 },
  projection: { tenant_id: 1, fanout_key: 1, accepted_at: 1, not_before: 1 },
} as const;

/** Limit of tenants with events due for fan-out whose oldest is looked at. */
const MOST_TENANTS = 200;

/** Returns the age in seconds of the oldest event that is due for fan-out; null without one. */
export async function oldestDueSeconds(
  events: TenantCollection<EventDoc>,
  store: Pick<Store, "now">,
): Promise<number | null> {
  let oldest = Number.POSITIVE_INFINITY;
  let after = "";
  for (let tenants = 0; tenants < MOST_TENANTS; tenants++) {
    const row = await firstAfter(events, after);
    if (!row) break;
    oldest = Math.min(oldest, (row.not_before ?? row.accepted_at).getTime());
    after = pastGroup(keyRange(row.tenant_id).before, row.fanout_key as string);
  }
  return Number.isFinite(oldest) ? Math.max(0, (store.now() - oldest) / 1000) : null;
}

/**
 * Returns the position before which no event of the tenant waits for its fan-out now, nor will: but for one whose publish
 * is not answered yet, and for delayed and parked ones.
 */
export async function fanOutHorizon(
  events: TenantCollection<EventDoc>,
  store: Pick<Store, "past">,
  tenant_id: string,
): Promise<string> {
  const { after, before } = keyRange(tenant_id);
  // Read before the rows: later events are not among them.
  const now = positionFrom(store.past());
  const filter = { fanout_key: { $gt: after, $lt: before } };
  const pending = await events.find(tenant_id, filter, { projection: { position: 1 } });
  let first = now;
  for (const { position } of pending) if (position < first) first = position;
  return first;
}

export function toEntry(row: EventDoc, event: CloudEvent, leased_until: number): Entry {
  const { _id, tenant_id, size, position, fanout_owner, fanout_attempts } = row;
  return {
    event_id: _id,
    tenant_id,
    event,
    size,
    position,
    due_at: (row.not_before ?? row.accepted_at).getTime(),
    owner: fanout_owner as string,
    leased_until,
    attempts: fanout_attempts ?? 0,
  };
}

function read(row: EventDoc, leased_until: number): Entry | null {
  try {
    return toEntry(row, parseEnvelope<CloudEvent>(row.envelope), leased_until);
  } catch {
    return null;
  }
}
