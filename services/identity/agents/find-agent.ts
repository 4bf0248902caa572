import { type Call, callerId, type RequestContext } from "../../../lib/access/caller.ts";
import {
  type Access,
  agentAccess,
  isOrgAdmin,
  type MemoryScope,
  type Owned,
  personAccess,
} from "../../../lib/access/visibility.ts";
import { forbidden, invalidValue, requireFound, unknownReference } from "../../../lib/contract/faults.ts";
import type { AgentState } from "./agents.contract.ts";

/** Returns an agent of the caller's tenant, active or not; undefined without one. */
export async function findAgent(ctx: RequestContext, agent_id: string): Promise<AgentState | undefined> {
  const params = { tenant_id: ctx.meta.caller.tenant_id, agent_ids: [agent_id] };
  const [agent] = await ctx.call<AgentState[], unknown>("agents.get_many", params);
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
  throw forbidden("Only admins and the agent's owner can read this. Ask one of them.");
}

/** Returns the caller's read access to scoped rows: an agent's from its token, a person's from their agents. */
export async function callerAccess(ctx: RequestContext): Promise<Access> {
  const { caller } = ctx.meta;
  if (caller.kind === "agent") return agentAccess({ id: caller.agent_id, team_id: caller.team_id });
  const { tenant_id, user_id } = caller;
  const [owned, teams] = await Promise.all([
    ctx.call<Owned[], unknown>("agents.owned_by", { tenant_id, user_id }),
    isOrgAdmin(caller) ? ctx.call<string[], unknown>("teams.ids", { tenant_id }) : [],
  ]);
  return personAccess(owned, teams);
}

/** As `callerAccess`, for rows that people own too: includes a person's own. */
export async function ownerAccess(ctx: RequestContext): Promise<Access> {
  const access = await callerAccess(ctx);
  return { ...access, agent_ids: [...new Set([...access.agent_ids, callerId(ctx.meta.caller)])] };
}

/**
 * Returns the team that shares new content: the given one, or else an agent's own; null with another scope. People may
 * choose a team that they read, agents any. @throws Fault validation_error
 */
export async function sharingTeam(
  ctx: RequestContext,
  { scope, team_id }: { scope: MemoryScope; team_id?: string | null | undefined },
  access: () => Promise<Access>,
): Promise<string | null> {
  const { caller } = ctx.meta;
  if (scope !== "team") {
    if (team_id)
      throw invalidValue("team_id", `team_id: allowed only with the scope team, got scope ${scope}.`);
    return null;
  }
  const own = caller.kind === "agent" ? caller.team_id : null;
  const wanted = team_id ?? own;
  if (!wanted) throw invalidValue("team_id", "team_id is required: you do not belong to a team.");
  const { tenant_id } = caller;
  const isAllowed =
    caller.kind === "user"
      ? (await access()).team_ids.includes(wanted)
      : wanted === own || (await ctx.call("teams.name_of", { tenant_id, team_id: wanted })) !== null;
  if (!isAllowed) throw unknownReference("team_id", "team", wanted);
  return wanted;
}
