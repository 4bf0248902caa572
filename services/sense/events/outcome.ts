import type { ServiceBroker } from "moleculer";
import { pagesBySize } from "../../../lib/broker/between-nodes.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import type { Counts, CountsByEvent, OpenEvents } from "../deliveries/event-deliveries.ts";
import type { Outcome } from "./events.contract.ts";
import type { EventDoc } from "./events.model.ts";
import { keyRange } from "./position.ts";

/** Receivers of events whose deliveries one query counts; a single event may have more. */
export const MOST_COUNTED = 10_000;
/** Most events, or deliveries, that a list by outcome knows. */
const MOST_KNOWN = 10_000;

type Settled = Pick<EventDoc, "parked_at" | "fanned_out_at" | "matched_count">;

/** Returns an event's outcome (`outcome` of its contract). */
export function outcomeOf(row: Settled, { pending, acknowledged, dlq }: Counts): Outcome {
  if (row.parked_at || dlq > 0) return "dead";
  if (!row.fanned_out_at || pending > 0) return "pending";
  // Those of a deleted agent are gone, and a replay of history delivers events that had matched no agent.
  return row.matched_count || acknowledged > 0 ? "done" : "none";
}

const NONE: Counts = { pending: 0, acknowledged: 0, dlq: 0 };

export async function countDeliveries(
  broker: ServiceBroker,
  tenant_id: string,
  rows: readonly Pick<EventDoc, "_id" | "matched_count">[],
): Promise<(event_id: string) => Counts> {
  const counts = new Map<string, Counts>();
  for (const batch of pagesBySize([...rows], receiversOf, MOST_COUNTED)) {
    const params = { tenant_id, event_ids: batch.map(({ _id }) => _id) };
    const byEvent = await broker.call<CountsByEvent, typeof params>("deliveries.counts", params);
    for (const [event_id, own] of Object.entries(byEvent)) counts.set(event_id, own);
  }
  return (event_id) => counts.get(event_id) ?? NONE;
}

/** Returns how many deliveries an event may have. */
export const receiversOf = ({ matched_count }: Pick<EventDoc, "matched_count">) => (matched_count ?? 0) + 1;

/**
 * Returns the ids of all events that may have an outcome, newest first, so that a list need not look through the others;
 * null if there are too many, so that others are few.
 */
export async function findCandidates(
  events: TenantCollection<EventDoc>,
  broker: ServiceBroker,
  tenant_id: string,
  outcome: "dead" | "pending",
): Promise<string[] | null> {
  const { after, before } = keyRange(tenant_id);
  const own = { $gt: after, $lt: before };
  const few: Where<EventDoc>[] =
    outcome === "dead" ? [{ parked_at: { $gt: new Date(0) } }] : [{ fanout_key: own }, { waiting_key: own }];
  const options = { limit: MOST_KNOWN + 1, projection: { _id: 1 } } as const;
  const params: OpenEvents = { tenant_id, outcome, limit: MOST_KNOWN };
  const [delivered, others] = await Promise.all([
    broker.call<string[] | null, OpenEvents>("deliveries.open_events", params),
    // Those without deliveries, each by a sparse index.
    Promise.all(few.map((filter) => events.find(tenant_id, filter, options))),
  ]);
  if (!delivered || others.some(({ length }) => length > MOST_KNOWN)) return null;
  return [...new Set([...delivered, ...others.flat().map(({ _id }) => _id)])].sort().reverse();
}
