import type { ServiceBroker } from "moleculer";

interface ListedAction {
  name: string;
  endpoints?: { nodeID: string; available: boolean }[];
}

/** Returns the nodes that currently offer an action. */
export function listNodes(broker: ServiceBroker, action: string): string[] {
  const listed = broker.registry.actions.list({ withEndpoints: true }) as unknown as ListedAction[];
  const endpoints = listed.find(({ name }) => name === action)?.endpoints ?? [];
  return endpoints.filter(({ available }) => available).map(({ nodeID }) => nodeID);
}

/** Calls an action on each node that offers it. Rejects if one of them fails. */
export function onEveryNode<T>(broker: ServiceBroker, action: string, params: object): Promise<T[]> {
  const nodes = listNodes(broker, action);
  return Promise.all(nodes.map((nodeID) => broker.call<T, object>(action, params, { nodeID })));
}
