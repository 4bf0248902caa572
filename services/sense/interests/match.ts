import type { ServiceBroker } from "moleculer";
import type { Owned } from "../../../lib/access/visibility.ts";
import { audienceIn, isIn } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import type { Match, Receiver } from "./receiver.ts";
import type { RoutingTable } from "./routing-table.ts";

export interface MatchParams {
  tenant_id: string;
  events: { event_id: string; envelope: CloudEvent }[];
  /** Stop after the event that reaches this many receivers: the answer then holds fewer events than requested. */
  max_receivers?: number;
}

/** How long matching may block the event loop. */
const SLICE_MS = 3;

/** Returns the receivers of each event. */
export async function matchEvents(
  broker: ServiceBroker,
  table: RoutingTable,
  { tenant_id, events, max_receivers = Number.POSITIVE_INFINITY }: MatchParams,
): Promise<Match[]> {
  const matches: Match[] = [];
  let total = 0;
  const slices = new Slices(SLICE_MS);
  for (const { event_id, envelope } of events) {
    const receivers = await keepAudience(broker, tenant_id, envelope, await table.match(envelope));
    matches.push({ event_id, receivers });
    total += receivers.length;
    if (total >= max_receivers) break;
    if (slices.over) await slices.next();
  }
  return matches;
}

/** Removes receivers outside an event's audience; most events have none. */
async function keepAudience(
  broker: ServiceBroker,
  tenant_id: string,
  event: CloudEvent,
  receivers: Receiver[],
): Promise<Receiver[]> {
  const audience = audienceIn(event);
  if (!audience || receivers.length === 0) return receivers;
  const agent_ids = receivers.map(({ agent_id }) => agent_id);
  const agents = await broker.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids });
  const members = new Set(agents.filter((agent) => isIn(audience, agent)).map(({ id }) => id));
  return receivers.filter(({ agent_id }) => members.has(agent_id));
}

/** Returns the types that some subscription's glob matches. */
export async function selectTaken(table: RoutingTable, types: string[]): Promise<string[]> {
  const taken = await Promise.all(types.map((type) => table.takes(type)));
  return types.filter((_, i) => taken[i]);
}
