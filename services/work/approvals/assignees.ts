import type { Static } from "typebox";
import type { RequestContext, UserCaller } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import { unknownReference } from "../../../lib/contract/faults.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import type { UserState } from "../../identity/users/users.contract.ts";
import { ADMINS, type Approval } from "./approvals.contract.ts";

type Calls = Pick<RequestContext, "call">;

const isUser = (id: string) => id.startsWith("usr_");
const isTeam = (id: string) => id.startsWith("team_");

/** Refuses ids of users and teams that the tenant does not have. @throws Fault validation_error */
export async function requireAssignees(
  ctx: Calls,
  tenant_id: string,
  field: string,
  ids: string[],
): Promise<void> {
  const user_ids = ids.filter(isUser);
  const active = await ctx.call<UserState[], object>("users.reached", { tenant_id, user_ids, admins: false });
  for (const id of user_ids)
    if (!active.some((user) => user.id === id)) throw unknownReference(field, "user", id);
  for (const team_id of ids.filter(isTeam))
    if ((await ctx.call("teams.name_of", { tenant_id, team_id })) === null)
      throw unknownReference(field, "team", team_id);
}

/** Returns the active people that assignees stand for. */
export async function peopleOf(ctx: Calls, tenant_id: string, assigned: string[]): Promise<UserState[]> {
  const team_ids = assigned.filter(isTeam);
  const owners = team_ids.length
    ? await ctx.call<string[], object>("agents.owners_in", { tenant_id, team_ids })
    : [];
  const user_ids = [...assigned.filter(isUser), ...owners];
  return ctx.call("users.reached", { tenant_id, user_ids, admins: assigned.includes(ADMINS) });
}

/** Returns the filter of the approvals that a caller may read. */
export async function readableBy(ctx: RequestContext): Promise<object> {
  const { caller } = ctx.meta;
  if (caller.kind === "agent") return { asker_id: caller.agent_id };
  if (isOrgAdmin(caller)) return {};
  return { $or: [{ asker_id: caller.user_id }, await answerableBy(ctx)] };
}

/** Returns the filter of the approvals that a person may answer. */
export async function answerableBy(ctx: RequestContext): Promise<object> {
  const caller = ctx.meta.caller as UserCaller;
  if (isOrgAdmin(caller)) return {};
  const { team_ids } = await callerAccess(ctx);
  return { assigned: { $in: [caller.user_id, ...team_ids] } };
}

/** The question, as it was asked. */
export type Question = Pick<
  Static<typeof Approval>,
  "title" | "question" | "choices" | "text_allowed" | "evidence" | "subject"
>;

export const parseAsked = ({ asked_json }: { asked_json: string }): Question => JSON.parse(asked_json);
