import type { TenantCollection } from "../../../storage/collection.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** Agents of a tenant. */
export interface AgentsOfTenant {
  tenant_id: string;
  agent_ids: string[];
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
  const found = new Set(rows.map(({ agent_id }) => agent_id as string));
  return { agent_ids: [...found], more: rows.length === LIMIT };
}
