import { type Call, type Caller, isAdmin } from "../../lib/caller.ts";
import { Fault, notFound } from "../../lib/faults.ts";
import type { AgentState } from "../agents/agents.contract.ts";

/**
 * The agent, when the caller is it, or an admin of its tenant (api: Device connection).
 *
 * @throws Fault not_found, insufficient_scope
 */
export async function ownAgent(ctx: Call, agent_id: string): Promise<AgentState> {
  const agent = await agentOf(ctx, agent_id);
  if (maySeeDevices(ctx.meta.caller, agent_id)) return agent;
  throw new Fault("insufficient_scope", "The devices of another agent need the scope admin.", {
    required_scope: "admin",
  });
}

/** Whether the devices of an agent of the caller's tenant are the caller's to see. */
export function maySeeDevices(caller: Caller, agent_id: string): boolean {
  return isAdmin(caller) || (caller.kind === "agent" && caller.agent_id === agent_id);
}

/** The agent of the caller's tenant. @throws Fault not_found */
export async function agentOf(ctx: Call, agent_id: string): Promise<AgentState> {
  const { tenant_id } = ctx.meta.caller;
  const [agent] = await ctx.call<AgentState[], object>("agents.get_many", {
    tenant_id,
    agent_ids: [agent_id],
  });
  if (!agent) throw notFound("agent", agent_id);
  return agent;
}
