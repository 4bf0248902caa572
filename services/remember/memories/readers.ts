import type { ServiceBroker } from "moleculer";
import {
  agentAccess,
  isAtLeastAsVisible,
  mayRead,
  type Owned,
  type Scoped,
} from "../../../lib/access/visibility.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** Whether all readers of a memory, including its owner, can read its successor. */
export async function isReadByAllReaders(
  ctx: Pick<ServiceBroker, "call">,
  { tenant_id, ...doc }: Pick<MemoryDoc, "tenant_id" | keyof Scoped>,
  successor: Scoped,
): Promise<boolean> {
  if (!isAtLeastAsVisible(successor, doc)) return false;
  const { agent_id } = doc;
  if (agent_id === null || agent_id === successor.agent_id || successor.scope === "institutional")
    return true;
  const asked = { tenant_id, agent_ids: [agent_id] };
  const [owner] = await ctx.call<Owned[], unknown>("agents.get_many", asked);
  return !owner || mayRead(agentAccess(owner), successor);
}
