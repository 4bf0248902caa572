import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";

/**
 * Returns the agent of the path if the caller may manage its interests: the agent itself, or an admin of its tenant.
 *
 * @throws Fault not_found if the tenant has no such agent, forbidden if it is another's.
 */
export async function authorizeAgent(
  ctx: Call<{ agent_id: string }>,
): Promise<{ id: string; status: string }> {
  const { caller } = ctx.meta;
  const { agent_id } = ctx.params;
  const asked = { tenant_id: caller.tenant_id, agent_ids: [agent_id] };
  const [agent] = await ctx.call<{ id: string; status: string }[], unknown>("agents.get_many", asked);
  if (!agent) throw notFound("agent", agent_id);
  const own = caller.kind === "agent" && caller.agent_id === agent_id;
  if (!own && !isAdmin(caller))
    throw new Fault("forbidden", "Only the agent itself and admins can read its interests. Ask one of them.");
  return agent;
}
