import type { OfAgent } from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import {
  BRIEF,
  type DeliveryDoc,
  type DeliveryState,
  deliveryId,
  eventOf,
  ofEvent,
  PENDING,
} from "./deliveries.model.ts";

type Deliveries = TenantCollection<DeliveryDoc>;

export interface OfEvent {
  tenant_id: string;
  event_id: string;
}

/** Deliveries by state, as callers see them. */
export type Counts = Record<"pending" | "acknowledged" | "dlq", number>;

/** By event id; an event without deliveries is missing. */
export type CountsByEvent = Record<string, Counts>;

const COUNTED: Record<DeliveryState, keyof Counts | null> = {
  ...{ ready: "pending", leased: "pending", waiting: "pending" },
  ...{ acknowledged: "acknowledged", dead: "dlq", discarded: null },
};

/** Counts the deliveries of events by state (api.md: one event), in one query: callers limit how many these are. */
export async function countsOf(
  deliveries: Deliveries,
  { tenant_id, event_ids }: { tenant_id: string; event_ids: string[] },
): Promise<CountsByEvent> {
  if (event_ids.length === 0) return {};
  const projection = { state: 1 } as const;
  const rows = await deliveries.find(tenant_id, { $or: event_ids.map(ofEvent) }, { projection });
  const counts: CountsByEvent = {};
  for (const { _id, state } of rows) {
    const event_id = eventOf(_id);
    counts[event_id] ??= { pending: 0, acknowledged: 0, dlq: 0 };
    const own = counts[event_id];
    const field = COUNTED[state];
    if (field) own[field]++;
  }
  return counts;
}

export interface OpenEvents {
  tenant_id: string;
  outcome: "dead" | "pending";
  limit: number;
}

/** Returns the ids of all events with a dead or a pending delivery; null if more such deliveries than `limit` exist. */
export async function openEvents(
  deliveries: Deliveries,
  { tenant_id, outcome, limit }: OpenEvents,
): Promise<string[] | null> {
  const state = outcome === "dead" ? "dead" : { $in: PENDING };
  const options = { limit: limit + 1, projection: { _id: 1 } } as const;
  const rows = await deliveries.find(tenant_id, { state }, options);
  return rows.length > limit ? null : [...new Set(rows.map(({ _id }) => eventOf(_id)))];
}

export type EventReceiver = ReturnType<typeof toReceiver>;

/** Returns the outcome of an event for its first `limit` receivers. */
export async function receiversOf(deliveries: Deliveries, { tenant_id, event_id }: OfEvent, limit: number) {
  const options = { sort: { _id: 1 }, limit, projection: BRIEF } as const;
  const docs = await deliveries.find(tenant_id, ofEvent(event_id), options);
  return docs.map(toReceiver);
}

function toReceiver(doc: DeliveryDoc) {
  const { _id, agent_id, state, attempt_count, created_at } = doc;
  // Retired rows lack these.
  const { matched, timeline } = doc as Partial<DeliveryDoc>;
  const entries = (timeline ?? []).map(({ at, ...rest }) => ({ at: at.toISOString(), ...rest }));
  return {
    delivery_id: _id,
    agent_id,
    state: state === "ready" || state === "leased" || state === "waiting" ? "pending" : state,
    attempt_count,
    matched: matched ?? { interest_ids: [], feed_ids: [] },
    timeline: [{ at: created_at.toISOString(), what: "matched" }, ...entries],
  };
}

/** Returns which events the agent was given: `receive` lets it read these (api.md Scopes). */
export async function givenTo(
  deliveries: Deliveries,
  { tenant_id, agent_id, event_ids }: OfAgent & { event_ids: string[] },
): Promise<string[]> {
  const ids = event_ids.map((event_id) => deliveryId(event_id, agent_id));
  const options = { projection: { event_id: 1 } } as const;
  const found = await deliveries.find(tenant_id, { _id: { $in: ids } }, options);
  return found.map(({ event_id }) => event_id as string);
}

/** Deletes the deliveries, tombstones and dead letters of deleted events. */
export async function forgetEvents(
  deliveries: Deliveries,
  { tenant_id, event_ids }: { tenant_id: string; event_ids: string[] },
): Promise<{ forgotten: number }> {
  const deletions = event_ids.map((id) => ({ deleteMany: { filter: { ...ofEvent(id), tenant_id } } }));
  return { forgotten: (await deliveries.bulk(deletions)).deletedCount };
}
