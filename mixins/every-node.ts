import type { ServiceBroker } from "moleculer";

interface ListedAction {
  name: string;
  endpoints?: { nodeID: string; available: boolean }[];
}

/** Returns the nodes that currently offer an action. */
export function nodesOf(broker: ServiceBroker, action: string): string[] {
  const listed = broker.registry.actions.list({ withEndpoints: true }) as unknown as ListedAction[];
  const endpoints = listed.find(({ name }) => name === action)?.endpoints ?? [];
  return endpoints.filter(({ available }) => available).map(({ nodeID }) => nodeID);
}

/** Moleculer's catalog of events, which its types omit. */
interface Events {
  getAllEndpoints(event: string): { id: string }[];
}

/** Sends an event to the services of one node; as with all events, nothing happens if it is lost. */
export function sendToNode(broker: ServiceBroker, nodeID: string, event: string, payload: object): void {
  if (nodeID === broker.nodeID) return void broker.broadcastLocal(event, payload);
  const { events } = broker.registry as unknown as { events: Events };
  const endpoint = events.getAllEndpoints(event).find(({ id }) => id === nodeID);
  if (!endpoint || !broker.transit) return;
  const ctx = broker.ContextFactory.create(broker, endpoint as never, payload as never, {});
  Object.assign(ctx, { eventName: event, eventType: "broadcast" });
  broker.transit.sendEvent(ctx as never);
}

/** Calls an action on each node that offers it. Rejects if one of them fails. */
export function onEveryNode<T>(broker: ServiceBroker, action: string, params: object): Promise<T[]> {
  const nodes = nodesOf(broker, action);
  return Promise.all(nodes.map((nodeID) => broker.call<T, object>(action, params, { nodeID })));
}
