import { type Call, callerId, type RequestContext } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import { Fault, requireFound } from "../../../lib/contract/faults.ts";
import type { AgentState } from "./agents.contract.ts";

/** Returns an agent of the caller's tenant, active or not; undefined without one. */
export async function findAgent(ctx: RequestContext, agent_id: string): Promise<AgentState | undefined> {
  const asked = { tenant_id: ctx.meta.caller.tenant_id, agent_ids: [agent_id] };
  const [agent] = await ctx.call<AgentState[], unknown>("agents.get_many", asked);
  return agent;
}

/** As `findAgent`. @throws Fault not_found */
export async function requireAgent(ctx: Call, agent_id: string): Promise<AgentState> {
  return requireFound(await findAgent(ctx, agent_id), "agent", agent_id);
}

/** Returns an agent whose private work the calling person may read. @throws Fault not_found, forbidden */
export async function requireOwnedAgent(ctx: Call, agent_id: string): Promise<AgentState> {
  const agent = await requireAgent(ctx, agent_id);
  const { caller } = ctx.meta;
  if (isOrgAdmin(caller) || callerId(caller) === agent.owner_user_id) return agent;
  throw new Fault("forbidden", "Only admins and the agent's owner can read this. Ask one of them.");
}
