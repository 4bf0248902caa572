import type { ServiceBroker } from "moleculer";
import { type Caller, isAdmin } from "../../../lib/access/caller.ts";
import { fromCursor, type Place, toCursor } from "../../../lib/contract/cursor.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import { upToBytes } from "./by-bytes.ts";
import { deadFields, keptReason, NOT_DEAD } from "./dead.ts";
import type { DeliveryDoc, Origin } from "./deliveries.model.ts";
import { noted } from "./settle.ts";

type Deliveries = TenantCollection<DeliveryDoc>;

const ORDER = "dead_lettered_at";

/** Returns the agent whose dead letters a caller may see; null for an admin, who sees all of the tenant's. */
export function visibleAgent(caller: Caller): string | null {
  if (isAdmin(caller)) return null;
  if (caller.kind === "agent") return caller.agent_id;
  throw new Fault("forbidden", "Dead letters are seen by the agent they were for, and by admins.");
}

export async function findDead(deliveries: Deliveries, caller: Caller, id: string): Promise<DeliveryDoc> {
  const agent_id = visibleAgent(caller);
  const filter = { _id: id, state: "dead" as const, ...(agent_id && { agent_id }) };
  const doc = await deliveries.findOne(caller.tenant_id, filter);
  if (!doc) throw notFound("dead_letter", id);
  return doc;
}

/** Lists a page of dead letters, latest first. The page is cut at the size of one answer. */
export async function listDead(
  broker: ServiceBroker,
  deliveries: Deliveries,
  caller: Caller,
  { limit = 50, cursor }: { limit?: number; cursor?: string },
) {
  const after = cursor === undefined ? undefined : fromCursor(cursor, ORDER);
  const { tenant_id } = caller;
  const agent_id = visibleAgent(caller);
  const field = agent_id ? "dlq_agent_key" : "dlq_key";
  const rows = pageOf(field, agent_id ?? tenant_id, after);
  const found = await latest(deliveries, tenant_id, { field, rows, limit: limit + 1 });
  const page = upToBytes(found.slice(0, limit));
  const [envelopes, payloads] = await Promise.all([
    loadEnvelopes(broker, tenant_id, page),
    loadPayloads(deliveries, tenant_id, page),
  ]);
  const items = page.map((doc) => present(doc, envelopes.get(doc.event_id ?? "") ?? payloads.get(doc._id)));
  const last = page.at(-1);
  const next_cursor =
    last && page.length < found.length
      ? toCursor(ORDER, { value: last.dead_lettered_at as Date, id: last._id })
      : null;
  return { items, count: items.length, next_cursor };
}

interface Wanted {
  field: "dlq_agent_key" | "dlq_key";
  rows: Where<DeliveryDoc>;
  limit: number;
}

/**
 * Returns the latest rows; those with equal keys are sorted by id. Finds the end of the page first, by the index: it
 * has no ids, so MongoDB would otherwise sort all rows for every page.
 */
async function latest(deliveries: Deliveries, tenant_id: string, { field, rows, limit }: Wanted) {
  const ends = { sort: { [field]: -1 }, limit, projection: { [field]: 1 } } as const;
  const last = (await deliveries.find(tenant_id, rows, ends)).at(-1);
  if (!last) return [];
  const page = { $and: [rows, { [field]: { $gte: last[field] } }] };
  // Payloads are loaded later, only for the rows in the answer.
  const projection = { timeline: 0, payload_json: 0 } as const;
  const order = { sort: { [field]: -1, _id: -1 }, limit, projection } as const;
  return deliveries.find(tenant_id, page, order);
}

/** Filters an owner's rows after a position; the id separates rows that died in the same millisecond. */
function pageOf(field: Wanted["field"], owner: string, after: Place | undefined): Where<DeliveryDoc> {
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
  docs: Pick<DeliveryDoc, "event_id">[],
): Promise<Map<string, string>> {
  const event_ids = [...new Set(docs.flatMap(({ event_id }) => event_id ?? []))];
  if (event_ids.length === 0) return new Map();
  const events = await broker.call<{ event_id: string; envelope: string }[], unknown>("events.load", {
    tenant_id,
    event_ids,
  });
  return new Map(events.map(({ event_id, envelope }) => [event_id, envelope]));
}

/** Loads the payloads, as JSON text by row id, of rows that never were an event. */
async function loadPayloads(
  deliveries: Deliveries,
  tenant_id: string,
  docs: DeliveryDoc[],
): Promise<Map<string, string | undefined>> {
  const ids = docs.filter(({ event_id }) => event_id === null).map(({ _id }) => _id);
  if (ids.length === 0) return new Map();
  const rows = await deliveries.find(tenant_id, { _id: { $in: ids } }, { projection: { payload_json: 1 } });
  return new Map(rows.map(({ _id, payload_json }) => [_id, payload_json]));
}

/** Returns the payload that could not be mapped. */
export function payloadOf({ payload_json }: Pick<DeliveryDoc, "payload_json">): unknown {
  return payload_json === undefined ? undefined : JSON.parse(payload_json);
}

/** @param json the event, or the unmapped payload; undefined if expired */
function present(doc: DeliveryDoc, json: string | undefined) {
  const payload = json === undefined ? null : JSON.parse(json);
  return {
    id: doc._id,
    event_id: doc.event_id,
    agent_id: doc.agent_id,
    payload,
    attempt_count: doc.attempt_count,
    dlq_reason: doc.dlq_reason as string,
    created_at: doc.created_at.toISOString(),
    dead_lettered_at: (doc.dead_lettered_at as Date).toISOString(),
    source: (doc.event_id === null ? doc.source : payload?.source) ?? null,
  };
}

/** Discards a dead letter. If it has an event, a row remains, so that no replay delivers it again. */
export async function discardDead(
  deliveries: Deliveries,
  caller: Caller,
  id: string,
  at: Date,
): Promise<void> {
  const { tenant_id } = caller;
  const { event_id, agent_id } = await findDead(deliveries, caller, id);
  const guard = { _id: id, agent_id, state: "dead" as const };
  if (event_id === null) {
    await deliveries.delete(tenant_id, guard);
    return;
  }
  await deliveries.update(tenant_id, guard, {
    $set: { state: "discarded" },
    $unset: NOT_DEAD,
    $push: noted({ at, what: "discarded" }),
  });
}

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

/** Keeps an unmappable payload for admins until a time. */
export async function insertUnmappable(
  deliveries: Deliveries,
  what: Unmappable,
  at: Date,
  retire_at: Date,
): Promise<string> {
  const { tenant_id, source, payload, dedupe, origin } = what;
  const reason = keptReason(what.reason);
  const payload_json = JSON.stringify(payload);
  const doc = await deliveries.insertOnce({
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
    retire_at,
    ...(origin && { origin }),
  });
  return doc._id;
}
