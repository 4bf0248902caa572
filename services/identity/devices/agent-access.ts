import { type Call, type Caller, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import type { AgentState } from "../agents/agents.contract.ts";

/**
 * Returns the agent if the caller may manage its devices (api: Device connection).
 *
 * @throws Fault not_found, insufficient_scope
 */
export async function ownAgent(ctx: Call, agent_id: string): Promise<AgentState> {
  const agent = await findAgent(ctx, agent_id);
  if (!agent) throw notFound("agent", agent_id);
  if (maySeeDevices(ctx.meta.caller, agent)) return agent;
  throw new Fault(
    "insufficient_scope",
    "Only the agent itself, its owner or an admin may handle its devices: this needs the scope admin.",
    { required_scope: "admin" },
  );
}

/** Whether the caller is an admin, the agent itself or its owner. The agent must be of the caller's tenant. */
export function maySeeDevices(
  caller: Caller,
  { id, owner_user_id }: Pick<AgentState, "id" | "owner_user_id">,
): boolean {
  if (isAdmin(caller)) return true;
  return caller.kind === "agent" ? caller.agent_id === id : caller.user_id === owner_user_id;
}

/** Returns the agent of the caller's tenant; null without one. */
export async function findAgent(ctx: Call, agent_id: string): Promise<AgentState | null> {
  const { tenant_id } = ctx.meta.caller;
  const [agent] = await ctx.call<AgentState[], object>("agents.get_many", {
    tenant_id,
    agent_ids: [agent_id],
  });
  return agent ?? null;
}
