import type { ServiceBroker } from "moleculer";
import type { OfAgent } from "../../../lib/access/caller.ts";
import { nodesWith, ownerOf } from "../../../mixins/affinity.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** Actions that look for ready deliveries: requests wait at one service, and the other pushes. */
const WAKE = { deliveries: "deliveries.wake", push: "push.wake" };

/** Wakes the nodes that own the agents' queues or push to them. A lost call delays deliveries until the next look. */
export function notifyReady(broker: ServiceBroker, ready: OfAgent[]): void {
  if (ready.length === 0) return;
  for (const [service, action] of Object.entries(WAKE)) {
    const nodes = nodesWith(broker, service);
    if (nodes.length === 0) continue;
    for (const [nodeID, own] of Map.groupBy(ready, ({ agent_id }) => ownerOf(agent_id, nodes).id))
      broker.call(action, { ready: own }, { nodeID, tracking: false }).catch(() => {});
  }
}

export interface AgentsOfTenant {
  tenant_id: string;
  agent_ids: string[];
}

export function byTenant(agents: readonly OfAgent[]): AgentsOfTenant[] {
  return [...Map.groupBy(agents, ({ tenant_id }) => tenant_id)].map(([tenant_id, own]) => {
    return { tenant_id, agent_ids: [...new Set(own.map(({ agent_id }) => agent_id))] };
  });
}

/** Which of some agents have ready deliveries; `more`: others of them may, too. */
export interface ReadyAgents {
  agent_ids: string[];
  more: boolean;
}

const LIMIT = 500;

/** Finds those among many agents that have ready deliveries: one query, and an index seek for each agent. */
export async function findReadyAgents(
  deliveries: TenantCollection<DeliveryDoc>,
  agents: AgentsOfTenant[],
): Promise<ReadyAgents> {
  const $or = agents.map(({ tenant_id, agent_ids }) => {
    return { tenant_id, state: "ready" as const, agent_id: { $in: agent_ids } };
  });
  const options = { limit: LIMIT, projection: { agent_id: 1 } as const };
  const rows = (await deliveries.system.find({ $or }, options).toArray()) as DeliveryDoc[];
  const ready = new Set(rows.map(({ agent_id }) => agent_id as string));
  return { agent_ids: [...ready], more: rows.length === LIMIT };
}
