import { type Call, type Scope, scopesForRole, type UserCaller } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import type { Approval } from "./keys.contract.ts";

/**
 * Returns the approval of the calling person, by their rights as they are stored now.
 *
 * @throws Fault insufficient_scope without the right, authentication_failed for a disabled person
 */
export async function approvalBy(ctx: Call, agent: AgentState, scopes: readonly Scope[]): Promise<Approval> {
  const { user_id } = ctx.meta.caller as UserCaller;
  const [user] = await ctx.call<UserState[], object>("users.of_tokens", { user_ids: [user_id] });
  if (!user) throw new Fault("authentication_failed", "Your account is disabled. Ask an admin.");
  const { disablings, demotions, role } = user;
  const common = { user_id, disablings, token_version: agent.token_version };
  const missing = scopes.find((scope) => !scopesForRole(role).includes(scope));
  const isOwner = agent.owner_user_id === user_id;
  if (isOwner && !scopes.includes("admin")) return { ...common, as: "owner", version: agent.owner_version };
  if (role === "admin") return { ...common, as: "admin", version: demotions };
  throw new Fault("insufficient_scope", "You no longer have the rights to approve this. Ask an admin.", {
    required_scope: missing ?? "admin",
  });
}

/** Whether a key is valid: not revoked, not expired and, if it needs it, approved still. */
export async function isValidKey(from: Pick<Call, "call">, key_id: string): Promise<boolean> {
  return (await from.call<unknown[], object>("keys.of_tokens", { key_ids: [key_id] })).length === 1;
}

/** Returns which of these approvals, of any tenants, still stand. */
export async function standing<T extends { approval?: Approval | null; agent_id: string; tenant_id: string }>(
  from: Pick<Call, "call">,
  rows: readonly T[],
): Promise<Set<T>> {
  const approved = rows.filter(({ approval }) => approval);
  if (approved.length === 0) return new Set();
  const user_ids = [...new Set(approved.map(({ approval }) => approval?.user_id))];
  const agent_ids = [...new Set(approved.map(({ agent_id }) => agent_id))];
  const [users, agents] = await Promise.all([
    from.call<UserState[], object>("users.of_tokens", { user_ids }),
    from.call<AgentState[], object>("agents.of_tokens", { agent_ids }),
  ]);
  const userOf = new Map(users.map((user) => [user.id, user]));
  const agentOf = new Map(agents.map((agent) => [agent.id, agent]));
  return new Set(
    approved.filter(({ approval, agent_id, tenant_id }) => {
      const user = userOf.get(approval?.user_id ?? "");
      const agent = agentOf.get(agent_id);
      if (!approval || user?.tenant_id !== tenant_id || agent?.tenant_id !== tenant_id) return false;
      return holds(approval, user, agent);
    }),
  );
}

function holds(approval: Approval, user: UserState, agent: AgentState): boolean {
  const { disablings, token_version, as, version } = approval;
  if (user.disablings !== disablings || agent.token_version !== token_version) return false;
  if (agent.status !== "active") return false;
  return version === (as === "owner" ? agent.owner_version : user.demotions);
}
