import { type Call, type Scope, scopesForRole } from "../../../lib/access/caller.ts";
import { Fault, unauthenticated } from "../../../lib/contract/faults.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import { findTenant } from "../tenants/find-tenants.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import type { Approval, Issued } from "./keys.contract.ts";
import { findAll, stands } from "./versions.ts";

type From = Pick<Call, "call">;

/** Returns what a credential rests on that the caller issues now for an agent, and the caller, if it is a person. */
export async function issuedNow(ctx: Call, agent: AgentState): Promise<{ issued: Issued; user?: UserState }> {
  const { caller } = ctx.meta;
  const user_ids = caller.kind === "user" ? [caller.user_id] : [];
  const [tenant, [user]] = await Promise.all([
    findTenant(ctx, agent.tenant_id),
    ctx.call<UserState[], object>("users.of_tokens", { user_ids }),
  ]);
  const issued = { tenant_version: tenant?.token_version ?? 0, token_version: agent.token_version };
  return user ? { issued: { ...issued, user_id: user.id, disablings: user.disablings }, user } : { issued };
}

/**
 * Returns the approval of the calling person, by their rights as they are stored now.
 * @throws Fault insufficient_scope without the right, authentication_failed for a disabled person
 */
export async function approvalBy(ctx: Call, agent: AgentState, scopes: readonly Scope[]): Promise<Approval> {
  const { issued, user } = await issuedNow(ctx, agent);
  if (!user) throw unauthenticated("Your account is disabled. Ask an admin.");
  const { id: user_id, disablings, demotions, role } = user;
  const common = { ...issued, user_id, disablings };
  const missing = scopes.find((scope) => !scopesForRole(role).includes(scope));
  const isOwner = agent.owner_user_id === user_id;
  if (isOwner && !scopes.includes("admin")) return { ...common, as: "owner", version: agent.owner_version };
  if (role === "admin") return { ...common, as: "admin", version: demotions };
  throw new Fault("insufficient_scope", "You no longer have the rights to approve this. Ask an admin.", {
    required_scope: missing ?? "admin",
  });
}

/** Whether a key is valid: not revoked, not expired and, if it needs it, approved still. */
export async function isValidKey(from: From, key_id: string): Promise<boolean> {
  return (await from.call<unknown[], object>("keys.of_tokens", { key_ids: [key_id] })).length === 1;
}

/** Returns which of these rows, of any tenants, stand by what they were issued on. */
export async function standing<T extends { agent_id: string; tenant_id: string }>(
  from: From,
  rows: readonly T[],
  issuedOf: (row: T) => Partial<Approval> | null | undefined,
): Promise<Set<T>> {
  const issued = rows.filter((row) => issuedOf(row));
  const idsOf = (of: (row: T) => string | undefined) => issued.flatMap((row) => of(row) ?? []);
  const [tenants, agents, users] = await Promise.all([
    findAll<TenantState>(
      from,
      "tenants.get_many",
      "tenant_ids",
      idsOf(({ tenant_id }) => tenant_id),
    ),
    findAll<AgentState>(
      from,
      "agents.of_tokens",
      "agent_ids",
      idsOf(({ agent_id }) => agent_id),
    ),
    findAll<UserState>(
      from,
      "users.of_tokens",
      "user_ids",
      idsOf((row) => issuedOf(row)?.user_id),
    ),
  ]);
  const fitting = issued.filter((row) => {
    const { tenant_version = 0, token_version, user_id = "", disablings, as, version } = issuedOf(row) ?? {};
    const [tenant, agent, user] = [tenants.get(row.tenant_id), agents.get(row.agent_id), users.get(user_id)];
    if (agent?.status !== "active" || [agent, user].some((of) => of && of.tenant_id !== row.tenant_id))
      return false;
    const right = as === "owner" ? agent.owner_version : user?.demotions;
    return stands(
      { tenant: tenant_version, agent: token_version, user: disablings, right: version },
      { tenant: tenant?.token_version, agent: agent.token_version, user: user?.disablings, right },
    );
  });
  return new Set(fitting);
}
