import type { OfAgent } from "../../../lib/access/caller.ts";
import { defined } from "../../../lib/defined.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Update, Where } from "../../../storage/query.ts";
import { DUPLICATE_KEY, refusedRows } from "../../../storage/write-errors.ts";
import { tally } from "../../platform/usage/tally.ts";
import type { NewDelivery } from "../interests/receiver.ts";
import { NOT_DEAD } from "./dead-letter-state.ts";
import { type DeliveryDoc, deliveryId, OVER, timelinePush } from "./deliveries.model.ts";
import { groupOf, heldKey, type Ordering } from "./ordering.ts";
import type { ReadyDeliveries } from "./ready.ts";
import type { RequestQueues, Reservation } from "./receive.ts";

/** Deliveries that are about to be written, some of them reserved for waiting requests. */
export interface Prepared {
  /** Sends the rows in this event loop tick: in one commit of the embedded store with what else is sent in it. */
  write(): Promise<void>;
  /** Delivers and announces those of the events that were written. Must follow, whether rows were written or not. */
  confirm(event_ids: ReadonlySet<string>): void;
}

interface EnqueuerDeps {
  deliveries: TenantCollection<DeliveryDoc>;
  /** Null on a store with several nodes. */
  ready: ReadyDeliveries | null;
  store: Store;
  requestQueues: RequestQueues;
  ordering: Pick<Ordering, "release">;
  notifyReady: (ready: OfAgent[]) => void;
}

/** Rows per write: more would delay the writes of others. */
const CHUNK = 1000;

/** Adds deliveries. However often it is repeated, an agent has one row per event. */
export class Enqueuer {
  readonly #deps: EnqueuerDeps;

  constructor(deps: EnqueuerDeps) {
    this.#deps = deps;
  }

  /** Adds missing deliveries: waiting requests get them at once, other receivers are notified. */
  async enqueue(requests: NewDelivery[]): Promise<{ enqueued: number; known: number }> {
    const added: DeliveryDoc[] = [];
    for (const rows of this.#chunks(requests))
      added.push(...(await this.#insertReserved(rows, await this.#reserve(rows))));
    this.#announce(added);
    return { enqueued: added.length, known: requests.length - added.length };
  }

  /** Prepares deliveries of events that are written with them. */
  async prepare(requests: NewDelivery[]): Promise<Prepared> {
    const rows = [...this.#chunks(requests)].flat();
    const reservations = await this.#reserve(rows);
    let isSent = false;
    return {
      write: () => {
        isSent = true;
        return this.#insertMany(rows);
      },
      confirm: (event_ids) => {
        const added = rows.filter(({ event_id }) => event_ids.has(event_id as string));
        confirm(reservations, added);
        this.#announce(added);
        // One that remains is deleted when it is claimed.
        if (isSent && added.length < rows.length)
          this.#deps.ready
            ?.withdraw(rows.filter(({ event_id }) => !event_ids.has(event_id as string)))
            .catch(() => {});
      },
    };
  }

  /** Counts deliveries that are durable now, and notifies their receivers. */
  #announce(added: DeliveryDoc[]): void {
    countCreated(added);
    metrics.deliveriesEnqueued.inc(added.length);
    this.#release(added);
    const ready = added.filter(isReady);
    this.#deps.ready?.add(ready);
    this.#notify(ready);
  }

  /** Adds missing deliveries, and moves dead letters with a requested replay back. */
  async replay(requests: NewDelivery[]): Promise<void> {
    const ready: DeliveryDoc[] = [];
    for (const rows of this.#chunks(requests)) {
      const added = new Set(await this.#insert(rows));
      this.#deps.ready?.add([...added].filter(isReady));
      countCreated(added);
      const queued = [...added, ...(await this.#revive(rows.filter((row) => !added.has(row))))];
      ready.push(...queued.filter(isReady));
      this.#release(queued);
    }
    this.#notify(ready);
  }

  /** Queues settled deliveries of a replay of history again; once for each replay, however often it is repeated. */
  async renew(requests: NewDelivery[]): Promise<void> {
    const state = { $in: OVER };
    for (const rows of this.#chunks(requests)) {
      await this.#update(rows, ({ replay_id }) => ({ state, replay_id: { $ne: replay_id } }), renewedUpdate);
      this.#notify(rows.filter(isReady));
      this.#release(rows);
    }
  }

  /** Keeps each receiver's rows together: they are leased and acknowledged together, and then share pages of the store. */
  *#chunks(requests: NewDelivery[]): Generator<DeliveryDoc[]> {
    const ordered = [...Map.groupBy(requests, ({ agent_id }) => agent_id).values()].flat();
    for (let from = 0; from < ordered.length; from += CHUNK) {
      const at = new Date(this.#deps.store.now());
      yield ordered.slice(from, from + CHUNK).map((request) => toRow(request, at));
    }
  }

  /** Releases the first ones of the groups of rows that are held. */
  #release(rows: DeliveryDoc[]): void {
    for (const { tenant_id, held_key } of rows)
      if (held_key !== undefined) this.#deps.ordering.release(tenant_id, [groupOf({ held_key })]);
  }

  #notify(rows: DeliveryDoc[]): void {
    const ready = new Map<string, OfAgent>();
    for (const { tenant_id, agent_id } of rows)
      ready.set(agent_id as string, { tenant_id, agent_id: agent_id as string });
    this.#deps.notifyReady([...ready.values()]);
  }

  /** Leases rows to waiting requests before they are written. */
  async #reserve(rows: DeliveryDoc[]): Promise<Reservation[]> {
    const { requestQueues } = this.#deps;
    const byAgent = [...Map.groupBy(rows.filter(isReady), ({ agent_id }) => agent_id as string)];
    const waiting = byAgent.filter(([agent_id]) => requestQueues.hasWaiting(agent_id));
    const made = await Promise.all(waiting.map(([agent_id, own]) => requestQueues.reserve(agent_id, own)));
    const reservations = made.filter((each) => each !== null);
    for (const { rows: reserved, lease } of reservations) {
      const leased = { state: "leased", ...lease, attempt_count: 1 } as const;
      for (const row of reserved)
        Object.assign(row, leased, { timeline: [{ at: row.created_at, what: "handed_out" }] });
    }
    return reservations;
  }

  async #insertReserved(rows: DeliveryDoc[], reservations: Reservation[]): Promise<DeliveryDoc[]> {
    try {
      const added = await this.#insert(rows);
      confirm(reservations, added);
      return added;
    } catch (err) {
      // Any rows that were written become ready when their lease ends.
      confirm(reservations, []);
      throw err;
    }
  }

  #insertMany(rows: DeliveryDoc[]): Promise<void> {
    const { ready, deliveries } = this.#deps;
    return (ready?.rows ?? deliveries).insertMany(rows);
  }

  /** Inserts the rows whose id is new, and returns them. */
  async #insert(rows: DeliveryDoc[]): Promise<DeliveryDoc[]> {
    try {
      await this.#insertMany(rows);
      return rows;
    } catch (err) {
      const refused = refusedRows(err, rows.length);
      // Any other failure: fan-out retries all of them.
      if (refused.some(({ code }) => code !== DUPLICATE_KEY)) throw err;
      const known = new Set(refused.map(({ index }) => index));
      return rows.filter((_, i) => !known.has(i));
    }
  }

  /** Moves a tenant's dead letters with a requested replay back, with a fresh budget, and returns them. */
  async #revive(rows: DeliveryDoc[]): Promise<DeliveryDoc[]> {
    const [first] = rows;
    if (!first) return [];
    const requested = { state: "dead", replay_at: { $exists: true } } as const;
    const filter = { _id: { $in: rows.map(({ _id }) => _id) }, ...requested };
    const options = { projection: { _id: 1 } } as const;
    const skipped = await this.#deps.deliveries.find(first.tenant_id, filter, options);
    const ids = new Set(skipped.map(({ _id }) => _id));
    const chosen = rows.filter(({ _id }) => ids.has(_id));
    await this.#update(chosen, () => requested, revivedUpdate);
    return chosen;
  }

  async #update(
    rows: DeliveryDoc[],
    stateOf: (row: DeliveryDoc) => Where<DeliveryDoc>,
    updateOf: (row: DeliveryDoc) => Update<DeliveryDoc>,
  ): Promise<void> {
    const writes = rows.map((row) => {
      const { _id, tenant_id, agent_id } = row;
      return { updateOne: { filter: { _id, tenant_id, agent_id, ...stateOf(row) }, update: updateOf(row) } };
    });
    if (writes.length > 0) await this.#deps.deliveries.bulk(writes);
  }
}

/** Queues a dead letter again, with what it was matched to now. */
function revivedUpdate(row: DeliveryDoc): Update<DeliveryDoc> {
  const { created_at: at, state, priority, matched, enrichment_depth, retry_delays_seconds, held_key } = row;
  const $set = {
    ...{ state, attempt_count: 0, priority, matched, enrichment_depth },
    ...(held_key !== undefined && { held_key }),
  };
  const $push = timelinePush({ at, what: "replayed" });
  return retry_delays_seconds
    ? { $set: { ...$set, retry_delays_seconds }, $unset: NOT_DEAD, $push }
    : { $set, $unset: { ...NOT_DEAD, retry_delays_seconds: 1 }, $push };
}

/** As `revivedUpdate`, of a row in any settled state: as if it were new, with its timeline. */
function renewedUpdate(row: DeliveryDoc): Update<DeliveryDoc> {
  const { $set, $unset, $push } = revivedUpdate(row);
  const { created_at, size, type, replay_id } = row;
  return {
    $set: { ...$set, created_at, size, ...defined({ type, replay_id }) },
    $unset: { ...$unset, retire_at: 1 },
    ...($push && { $push }),
  };
}

const isReady = ({ state }: DeliveryDoc): boolean => state === "ready";

function countCreated(rows: Iterable<DeliveryDoc>): void {
  for (const row of rows) tally(row, "created", 1);
}

/** Delivers the written ones of reserved rows. */
function confirm(reservations: Reservation[], written: DeliveryDoc[]): void {
  if (reservations.length === 0) return;
  const kept = new Set(written);
  for (const reservation of reservations)
    reservation.confirm(reservation.rows.filter((row) => kept.has(row)));
}

function toRow(request: NewDelivery, at: Date): DeliveryDoc {
  const { tenant_id, event_id, agent_id, priority, matched, enrichment_depth, size = 0, type } = request;
  const { retry_delays_seconds, ordering, replay_id } = request;
  const row: DeliveryDoc = {
    _id: deliveryId(event_id, agent_id),
    tenant_id,
    agent_id,
    event_id,
    state: ordering === undefined ? "ready" : "waiting",
    priority,
    created_at: at,
    attempt_count: 0,
    size,
    matched,
    enrichment_depth,
    timeline: [],
  };
  if (type !== undefined) row.type = type;
  if (retry_delays_seconds) row.retry_delays_seconds = [...retry_delays_seconds];
  if (replay_id !== undefined) row.replay_id = replay_id;
  if (ordering !== undefined) row.held_key = heldKey(agent_id, ordering, event_id);
  return row;
}
