import { callerId, type RequestContext } from "../../../lib/access/caller.ts";
import {
  type Access,
  agentAccess,
  isOrgAdmin,
  type Owned,
  personAccess,
} from "../../../lib/access/visibility.ts";

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
