import type { ServiceBroker } from "moleculer";
import { nodesWith, ownerOf } from "../../../mixins/affinity.ts";

/** An agent with deliveries to receive. */
export interface Ready {
  tenant_id: string;
  agent_id: string;
}

/** Actions that look for ready deliveries: requests wait at one service, and the other pushes. */
const WAKE = { deliveries: "deliveries.wake", push: "push.wake" };

/** Wakes the nodes that own the agents' queues or push to them. A lost call delays deliveries until the next look. */
export function notifyReady(broker: ServiceBroker, ready: Ready[]): void {
  if (ready.length === 0) return;
  for (const [service, action] of Object.entries(WAKE)) {
    const nodes = nodesWith(broker, service);
    if (nodes.length === 0) continue;
    for (const [nodeID, own] of Map.groupBy(ready, ({ agent_id }) => ownerOf(agent_id, nodes).id))
      broker.call(action, { ready: own }, { nodeID, tracking: false }).catch(() => {});
  }
}
