import type { TenantCollection } from "../../../storage/collection.ts";
import type { AgentDoc } from "./agents.model.ts";

/** Selects the agents to push to, across tenants: a page by id, or the named one, if it is to be pushed to. */
export type PushTargetQuery = { agent_id: string } | { after: string; limit: number };

export async function findPushTargets(agents: TenantCollection<AgentDoc>, query: PushTargetQuery) {
  const one = "agent_id" in query;
  const filter = {
    delivery_mode: "push" as const,
    status: "active" as const,
    push_stopped: false,
    _id: one ? query.agent_id : { $gt: query.after },
    delivery_endpoint: { $ne: null },
  };
  const limit = one ? 1 : query.limit;
  const docs = await agents.system.find(filter, { sort: { _id: 1 }, limit }).toArray();
  return docs.map((doc) => ({
    tenant_id: doc.tenant_id,
    agent_id: doc._id,
    endpoint: doc.delivery_endpoint as string,
    format: doc.push_format ?? "structured",
  }));
}
