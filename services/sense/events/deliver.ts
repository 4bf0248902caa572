import type { CallingOptions, ServiceBroker } from "moleculer";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { nodesWith, ownerOf } from "../../../mixins/affinity.ts";
import {
  deliveryTo,
  type Match,
  type Matches,
  type MatchLimits,
  type NewDelivery,
} from "../interests/receiver.ts";
import type { Entry } from "./fan-out-queue.ts";

export type Matchable = Pick<Entry, "event_id" | "event" | "due_at" | "size">;

const MAX_RECEIVERS = 10_000;
const CHUNK = 1_000;
/** How long another node may take; then this one writes the deliveries. */
const OWNER_MS = 1_000;

/**
 * Matches events of one tenant and enqueues their deliveries. Returns the number of receivers, and of waits that it ends, of
 * each of the first events, one at least: with very many it stops early to bound memory. Call again for the rest.
 */
export async function deliver(broker: ServiceBroker, entries: Entry[]): Promise<number[]> {
  const { tenant_id } = entries[0] as Entry;
  const { matches } = await matchEvents(broker, tenant_id, entries, { max_receivers: MAX_RECEIVERS });
  const deliveries = toDeliveries(tenant_id, entries, matches);
  await Promise.all([enqueue(broker, deliveries), recordAwaited(broker, entries, matches)]);
  return matches.map(({ receivers, waits = [] }) => receivers.length + waits.length);
}

/** Finds the receivers of the first events, until there are `max_receivers`, or none within `max_ms`. */
export function matchEvents(
  broker: ServiceBroker,
  tenant_id: string,
  entries: readonly Matchable[],
  limits: MatchLimits,
  options?: CallingOptions,
): Promise<Matches> {
  const events = entries.map(({ event_id, event, due_at }) => ({ event_id, envelope: event, at: due_at }));
  return broker.call("interests.match", { tenant_id, events, ...limits }, options);
}

export function toDeliveries(
  tenant_id: string,
  entries: readonly Matchable[],
  matches: readonly Match[],
): NewDelivery[] {
  return matches.flatMap(({ event_id, receivers }, i) => {
    const { size, event } = entries[i] as Matchable;
    const { type } = event as CloudEvent;
    return receivers.map((receiver) => deliveryTo(receiver, { tenant_id, event_id, type, size }));
  });
}

/** Records the events that others wait for, before their fan-out is done. */
async function recordAwaited(broker: ServiceBroker, entries: Entry[], matches: Match[]): Promise<void> {
  const events = matches.flatMap(({ event_id: id, waits }, i) => {
    const { tenant_id, event } = entries[i] as Entry;
    const { type, source, subject = null } = event as CloudEvent;
    return waits ? [{ tenant_id, waits, event: { id, type, source, subject } }] : [];
  });
  const [first] = events;
  if (first) await broker.call("interests.record_awaited", { tenant_id: first.tenant_id, events });
}

/**
 * Writes deliveries of one tenant on the nodes that own the receivers' queues: requests wait there, so that most rows
 * are written as delivered. Resolves when all are durable.
 */
export async function enqueue(broker: ServiceBroker, deliveries: NewDelivery[]): Promise<void> {
  const nodes = nodesWith(broker, "deliveries");
  const byOwner = Map.groupBy(deliveries, ({ agent_id }) => nodes.length && ownerOf(agent_id, nodes).id);
  const chunks: Promise<unknown>[] = [];
  for (const [owner, own] of byOwner) {
    for (let at = 0; at < own.length; at += CHUNK) {
      const chunk = own.slice(at, at + CHUNK);
      const isHere = !owner || owner === broker.nodeID;
      chunks.push(isHere ? enqueueHere(broker, chunk) : enqueueAt(broker, owner, chunk));
    }
  }
  await Promise.all(chunks);
}

async function enqueueAt(broker: ServiceBroker, nodeID: string, deliveries: NewDelivery[]): Promise<void> {
  try {
    await broker.call("deliveries.enqueue", { deliveries }, { nodeID, timeout: OWNER_MS });
  } catch (err) {
    if (!isUnreached(err)) throw err;
    // Whether or not it has written them: a delivery is added once.
    await enqueueHere(broker, deliveries);
  }
}

function enqueueHere(broker: ServiceBroker, deliveries: NewDelivery[]): Promise<void> {
  return broker.call("deliveries.enqueue", { deliveries });
}
