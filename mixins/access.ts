import { type Call, callerId } from "../lib/access/caller.ts";
import { type Access, agentAccess, isOrgAdmin, type Owned, personAccess } from "../lib/access/visibility.ts";

/** What the caller may read of scoped rows: for an agent its token tells, for a person their agents are asked for. */
export async function callerAccess(ctx: Call): Promise<Access> {
  const { caller } = ctx.meta;
  if (caller.kind === "agent") return agentAccess({ id: caller.agent_id, team_id: caller.team_id });
  const { tenant_id, user_id } = caller;
  const [owned, teams] = await Promise.all([
    ctx.call<Owned[], unknown>("agents.owned_by", { tenant_id, user_id }),
    isOrgAdmin(caller) ? ctx.call<string[], unknown>("teams.ids", { tenant_id }) : [],
  ]);
  return personAccess(owned, teams);
}

/** The same of rows that people own too: a person's own are among it. */
export async function ownerAccess(ctx: Call): Promise<Access> {
  const access = await callerAccess(ctx);
  return { ...access, agent_ids: [...new Set([...access.agent_ids, callerId(ctx.meta.caller)])] };
}
