import type { Reasons } from "./gather-receivers.ts";
import { MAX_LISTENERS } from "./interests.contract.ts";
import type { RoutingTable } from "./routing-table.ts";

export interface ListenersParams {
  tenant_id: string;
  type: string;
}

/** An agent that listens to a type, with what matches it. */
export type Listener = { agent_id: string } & Pick<Reasons, "interest_ids" | "feed_ids">;

/** Returns the first active agents whose subscriptions match a type, whatever their filters say. */
export async function listenersTo(table: RoutingTable, type: string): Promise<Listener[]> {
  const found = await table.listenersTo(type, MAX_LISTENERS);
  return found.map(([agent_id, { interest_ids, feed_ids }]) => ({ agent_id, interest_ids, feed_ids }));
}

/** Returns the number of listeners of each type. */
export async function countListeners(table: RoutingTable, types: string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const type of types) counts.push((await table.listenersTo(type, MAX_LISTENERS)).length);
  return counts;
}
