import type { RequestContext } from "../../../lib/access/caller.ts";
import type { UserState } from "./users.contract.ts";

/** Returns the name of the calling agent or person; the id if there is none. */
export async function callerName(ctx: RequestContext): Promise<string> {
  const { caller } = ctx.meta;
  if (caller.kind === "user") {
    const [user] = await ctx.call<UserState[], object>("users.of_tokens", { user_ids: [caller.user_id] });
    return user?.display_name ?? caller.user_id;
  }
  const { tenant_id, agent_id } = caller;
  const params = { tenant_id, agent_ids: [agent_id] };
  const [agent] = await ctx.call<{ name: string }[], object>("agents.get_many", params);
  return agent?.name ?? agent_id;
}
