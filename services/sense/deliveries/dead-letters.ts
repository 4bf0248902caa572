import type { ServiceBroker } from "moleculer";
import { type Caller, isAdmin } from "../../../lib/access/caller.ts";
import { fromCursor, type Place, toCursor } from "../../../lib/contract/cursor.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import type { Loop } from "../../../mixins/loop.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Where } from "../../../storage/query.ts";
import { tally } from "../../../storage/traffic/tally.ts";
import type { Loaded } from "../events/recent-events.ts";
import { deadFields, keptReason, NOT_DEAD } from "./dead.ts";
import { type DeliveryDoc, type Origin, timelinePush } from "./deliveries.model.ts";
import { upToBytes } from "./size-limits.ts";

interface DeadLettersDeps {
  broker: ServiceBroker;
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
  announcements: Pick<Loop, "nudge">;
  /** How long unmapped payloads are kept. */
  unmappedMs: number;
}

/** A payload that could not be mapped to an event. */
export interface Unmappable {
  tenant_id: string;
  source: string;
  payload: unknown;
  reason: string;
  /** Identifies repeated receipts. */
  dedupe?: string;
  /** Present if another mapping could turn it into an event. */
  origin?: Origin;
}

interface PageQuery {
  field: "dlq_agent_key" | "dlq_key";
  filter: Where<DeliveryDoc>;
  limit: number;
}

const ORDER = "dead_lettered_at";

/** The dead-letter queue. */
export class DeadLetters {
  readonly #deps: DeadLettersDeps;

  constructor(deps: DeadLettersDeps) {
    this.#deps = deps;
  }

  async find(caller: Caller, id: string): Promise<DeliveryDoc> {
    const agent_id = visibleAgent(caller);
    const filter = { _id: id, state: "dead" as const, ...(agent_id && { agent_id }) };
    const row = await this.#deps.deliveries.findOne(caller.tenant_id, filter);
    if (!row) throw notFound("dead_letter", id);
    return row;
  }

  /** Lists a page of dead letters, latest first. The page is cut at the size of one answer. */
  async list(caller: Caller, { limit = 50, cursor }: { limit?: number; cursor?: string }) {
    const after = cursor === undefined ? undefined : fromCursor(cursor, ORDER);
    const { tenant_id } = caller;
    const agent_id = visibleAgent(caller);
    const field = agent_id ? "dlq_agent_key" : "dlq_key";
    const filter = pageFilter(field, agent_id ?? tenant_id, after);
    const found = await this.#findLatest(tenant_id, { field, filter, limit: limit + 1 });
    const page = upToBytes(found.slice(0, limit));
    const [envelopes, payloads] = await Promise.all([
      loadEnvelopes(this.#deps.broker, tenant_id, page),
      this.#loadPayloads(tenant_id, page),
    ]);
    const items = page.map((row) => present(row, envelopes.get(row.event_id ?? "") ?? payloads.get(row._id)));
    const last = page.at(-1);
    const next_cursor =
      last && page.length < found.length
        ? toCursor(ORDER, { value: last.dead_lettered_at as Date, id: last._id })
        : null;
    return { items, count: items.length, next_cursor };
  }

  /** Discards a dead letter. If it has an event, a row remains, so that no replay delivers it again. */
  async discard(caller: Caller, id: string): Promise<void> {
    const { deliveries, store } = this.#deps;
    const { tenant_id } = caller;
    const { event_id, agent_id } = await this.find(caller, id);
    const guard = { _id: id, agent_id, state: "dead" as const };
    if (event_id === null) {
      await deliveries.delete(tenant_id, guard);
      return;
    }
    await deliveries.update(tenant_id, guard, {
      $set: { state: "discarded" },
      $unset: NOT_DEAD,
      $push: timelinePush({ at: new Date(store.now()), what: "discarded" }),
    });
  }

  /** Keeps an unmappable payload for admins. */
  async add(unmappable: Unmappable): Promise<{ id: string }> {
    const { deliveries, store, announcements, unmappedMs } = this.#deps;
    const { tenant_id, source, payload, dedupe, origin } = unmappable;
    const at = new Date(store.now());
    const reason = keptReason(unmappable.reason);
    const payload_json = JSON.stringify(payload);
    const row = await deliveries.insertOnce({
      _id: dedupe === undefined ? newId("dlv") : derivedId("dlv", tenant_id, source, dedupe),
      tenant_id,
      agent_id: null,
      event_id: null,
      priority: 0,
      created_at: at,
      attempt_count: 0,
      size: Buffer.byteLength(payload_json),
      matched: { interest_ids: [], feed_ids: [] },
      enrichment_depth: "none",
      timeline: [{ at, what: "dead", reason }],
      ...deadFields({ tenant_id, agent_id: null, at, reason }),
      payload_json,
      source,
      retire_at: new Date(at.getTime() + unmappedMs),
      ...(origin && { origin }),
    });
    if (row.dead_lettered_at === at) tally({ tenant_id }, "dead_lettered", 1);
    announcements.nudge();
    return { id: row._id };
  }

  /**
   * Returns the latest rows; those with equal keys are sorted by id. Finds the end of the page first, by the index: it
   * has no ids, so MongoDB would otherwise sort all rows for every page.
   */
  async #findLatest(tenant_id: string, { field, filter, limit }: PageQuery): Promise<DeliveryDoc[]> {
    const { deliveries } = this.#deps;
    const ends = { sort: { [field]: -1 }, limit, projection: { [field]: 1 } } as const;
    const last = (await deliveries.find(tenant_id, filter, ends)).at(-1);
    if (!last) return [];
    const page = { $and: [filter, { [field]: { $gte: last[field] } }] };
    // Payloads are loaded later, only for the rows in the answer.
    const projection = { timeline: 0, payload_json: 0 } as const;
    const order = { sort: { [field]: -1, _id: -1 }, limit, projection } as const;
    return deliveries.find(tenant_id, page, order);
  }

  /** Loads the payloads, as JSON text by row id, of rows that never were an event. */
  async #loadPayloads(tenant_id: string, rows: DeliveryDoc[]): Promise<Map<string, string | undefined>> {
    const ids = rows.filter(({ event_id }) => event_id === null).map(({ _id }) => _id);
    if (ids.length === 0) return new Map();
    const options = { projection: { payload_json: 1 } };
    const found = await this.#deps.deliveries.find(tenant_id, { _id: { $in: ids } }, options);
    return new Map(found.map(({ _id, payload_json }) => [_id, payload_json]));
  }
}

/** Returns the agent whose dead letters a caller may see; null for an admin, who sees all of the tenant's. */
export function visibleAgent(caller: Caller): string | null {
  if (isAdmin(caller)) return null;
  if (caller.kind === "agent") return caller.agent_id;
  throw new Fault("forbidden", "Only its agent and admins can read a dead letter. Ask one of them.");
}

/** Filters an owner's rows after a position; the id separates rows that died in the same millisecond. */
function pageFilter(field: PageQuery["field"], owner: string, after: Place | undefined): Where<DeliveryDoc> {
  if (!after) return { [field]: { $gt: `${owner} `, $lt: `${owner} ~` } };
  const key = `${owner} ${(after.value as Date).toISOString()}`;
  return {
    [field]: { $gt: `${owner} `, $lte: key },
    $or: [{ [field]: { $lt: key } }, { _id: { $lt: after.id } }],
  };
}

/** Loads the events of rows as JSON text, by event id; expired ones are missing. */
export async function loadEnvelopes(
  broker: ServiceBroker,
  tenant_id: string,
  rows: Pick<DeliveryDoc, "event_id">[],
): Promise<Map<string, string>> {
  const event_ids = [...new Set(rows.flatMap(({ event_id }) => event_id ?? []))];
  if (event_ids.length === 0) return new Map();
  const events = await broker.call<Loaded[], unknown>("events.load", { tenant_id, event_ids });
  return new Map(events.map(({ event_id, envelope }) => [event_id, envelope]));
}

/** @param json the event, or the unmapped payload; undefined if expired */
function present(row: DeliveryDoc, json: string | undefined) {
  const payload = json === undefined ? null : JSON.parse(json);
  return {
    id: row._id,
    event_id: row.event_id,
    agent_id: row.agent_id,
    payload,
    attempt_count: row.attempt_count,
    dlq_reason: row.dlq_reason as string,
    created_at: row.created_at.toISOString(),
    dead_lettered_at: (row.dead_lettered_at as Date).toISOString(),
    source: (row.event_id === null ? row.source : payload?.source) ?? null,
  };
}
