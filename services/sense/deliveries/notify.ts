import type { ServiceBroker } from "moleculer";
import { nodesWith, ownerOf } from "../../../mixins/affinity.ts";
import { sendToNode } from "../../../mixins/every-node.ts";

/** An agent with deliveries to receive. */
export interface Ready {
  tenant_id: string;
  agent_id: string;
}

/** Services with receivers: requests wait at one, and the other pushes. */
const RECEIVING = ["deliveries", "push"];

/** Sends `deliveries.ready` to the nodes that own the agents' queues or push to them. */
export function notifyReady(broker: ServiceBroker, ready: Ready[]): void {
  if (ready.length === 0) return;
  const services = RECEIVING.map((service) => nodesWith(broker, service)).filter((nodes) => nodes.length > 0);
  const byNode = new Map<string, Set<Ready>>();
  for (const each of ready) {
    for (const nodes of services) {
      const { id } = ownerOf(each.agent_id, nodes);
      byNode.set(id, (byNode.get(id) ?? new Set()).add(each));
    }
  }
  for (const [id, own] of byNode) sendToNode(broker, id, "deliveries.ready", { ready: [...own] });
}
