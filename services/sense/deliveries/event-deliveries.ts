import type { TenantCollection } from "../../../storage/collection.ts";
import {
  BRIEF,
  type DeliveryDoc,
  deliveryId,
  type Matched,
  ofEvent,
  PENDING,
  type TimelineEntry,
} from "./deliveries.model.ts";

type Deliveries = TenantCollection<DeliveryDoc>;

export interface OfEvent {
  tenant_id: string;
  event_id: string;
}

/** Counts an event's deliveries by state (api.md: one event). */
export async function countsOf(deliveries: Deliveries, { tenant_id, event_id }: OfEvent) {
  const [pending, acknowledged, dlq] = await Promise.all([
    deliveries.count(tenant_id, { ...ofEvent(event_id), state: { $in: PENDING } }),
    deliveries.count(tenant_id, { ...ofEvent(event_id), state: "acknowledged" }),
    deliveries.count(tenant_id, { ...ofEvent(event_id), state: "dead" }),
  ]);
  return { pending, acknowledged, dlq };
}

/** One receiver of an event. A retired row no longer has `matched` and a timeline. */
export interface EventReceiver {
  delivery_id: string;
  agent_id: string | null;
  state: string;
  attempt_count: number;
  matched: Matched;
  timeline: { at: string; what: TimelineEntry["what"] | "matched"; reason?: string }[];
}

/** Returns the outcome of an event for its first `limit` receivers. */
export async function receiversOf(deliveries: Deliveries, { tenant_id, event_id }: OfEvent, limit: number) {
  const options = { sort: { _id: 1 }, limit, projection: BRIEF } as const;
  const docs = await deliveries.find(tenant_id, ofEvent(event_id), options);
  return docs.map(toReceiver);
}

function toReceiver(doc: DeliveryDoc): EventReceiver {
  const { _id, agent_id, state, attempt_count, created_at } = doc;
  // Tombstones lack these.
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

/**
 * Returns which of the events were delivered to the agent (api.md Scopes: `receive` reads events it was given).
 */
export async function givenTo(
  deliveries: Deliveries,
  { tenant_id, agent_id, event_ids }: { tenant_id: string; agent_id: string; event_ids: string[] },
): Promise<string[]> {
  const ids = event_ids.map((event_id) => deliveryId(event_id, agent_id));
  const found = await deliveries.find(
    tenant_id,
    { _id: { $in: ids } },
    { projection: { event_id: 1 } as const },
  );
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
