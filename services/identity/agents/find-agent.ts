import type { Call } from "../../../lib/access/caller.ts";
import { requireFound } from "../../../lib/contract/faults.ts";
import type { AgentState } from "./agents.contract.ts";

/** Returns an agent of the caller's tenant, active or not; undefined without one. */
export async function findAgent(ctx: Call, agent_id: string): Promise<AgentState | undefined> {
  const asked = { tenant_id: ctx.meta.caller.tenant_id, agent_ids: [agent_id] };
  const [agent] = await ctx.call<AgentState[], unknown>("agents.get_many", asked);
  return agent;
}

/** As `findAgent`. @throws Fault not_found */
export async function requireAgent(ctx: Call, agent_id: string): Promise<AgentState> {
  return requireFound(await findAgent(ctx, agent_id), "agent", agent_id);
}
