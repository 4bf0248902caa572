import type { ServiceBroker } from "moleculer";
import type { Owned } from "../../../lib/access/visibility.ts";
import { audienceIn, isIn } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";

/** Removes receivers outside an event's audience; most events have none. */
export async function ofAudience<R extends { agent_id: string }>(
  broker: ServiceBroker,
  tenant_id: string,
  event: CloudEvent,
  receivers: R[],
): Promise<R[]> {
  const audience = audienceIn(event);
  if (!audience || receivers.length === 0) return receivers;
  const agent_ids = receivers.map(({ agent_id }) => agent_id);
  const agents = await broker.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids });
  const those = new Set(agents.filter((agent) => isIn(audience, agent)).map(({ id }) => id));
  return receivers.filter(({ agent_id }) => those.has(agent_id));
}
