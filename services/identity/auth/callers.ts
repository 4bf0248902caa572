import {
  type AgentCaller,
  type Call,
  type Caller,
  NO_END,
  scopesForRole,
  type UserCaller,
} from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import { findAll, stands } from "../keys/versions.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import type { EndedTokenDoc } from "./auth.model.ts";

/** A valid key with its agent and tenant. */
export interface KeyHolder {
  key: KeyState;
  agent: AgentState;
  tenant: TenantState;
}

/** The rows that callers depend on, by id; absent ones are deleted, revoked, expired, disabled or unknown. */
interface Standing {
  tenants: Map<string, TenantState>;
  keys: Map<string, KeyState>;
  agents: Map<string, AgentState>;
  users: Map<string, UserState>;
  ended: Set<string>;
}

/**
 * Returns callers in their current state, in order; `suspended` if only the tenant is, and null if a token is no longer
 * valid. Reasons: it or its session was revoked; it has expired; its key was revoked or has expired, or the approval of its
 * key has ended; its agent is inactive, or was since; its user is disabled or has a new password; its tenant is not active,
 * or was not since. Takes five look-ups for any number of callers.
 */
export async function currentCallers(
  ctx: Call,
  endedTokens: TenantCollection<EndedTokenDoc>,
  now: number,
  callers: readonly Caller[],
): Promise<(Caller | "suspended" | null)[]> {
  const standing = await load(ctx, endedTokens, callers);
  return callers.map((caller) => {
    if (caller.expires_at <= now || endingIds(caller).some((id) => standing.ended.has(id))) return null;
    const tenant = standing.tenants.get(caller.tenant_id);
    const current = caller.kind === "agent" ? currentAgent(caller, standing) : currentUser(caller, standing);
    // Its tokens are of an earlier version of the tenant.
    if (current && tenant?.status === "suspended") return "suspended";
    if (tenant?.status !== "active") return null;
    if (!stands({ tenant: caller.tenant_version }, { tenant: tenant.token_version })) return null;
    return current && withLimits(current, tenant, standing.keys);
  });
}

/** Returns a caller with the limits of its tenant and key as they are now. */
function withLimits<C extends Caller>(
  caller: C,
  tenant: TenantState,
  keys: ReadonlyMap<string, KeyState>,
): C {
  const own = tenant.requests_per_minute ?? undefined;
  const key = (caller.kind === "agent" && keys.get(caller.key_id)?.requests_per_minute) || undefined;
  const current: Caller = { ...caller };
  delete current.limits;
  if (own !== undefined || key !== undefined)
    current.limits = { ...(own !== undefined && { tenant: own }), ...(key !== undefined && { key }) };
  return current as C;
}

/** Returns the ids whose revocation ends a caller: the token, and its sign-in. */
function endingIds(caller: Caller): string[] {
  return caller.kind === "user" ? [caller.token_id, caller.session_id] : [caller.token_id];
}

/** Returns the caller of a request with an agent's key: the key's id takes the place of a token's. */
export function callerOfKey({ key, agent, tenant }: KeyHolder): AgentCaller {
  const { id, tenant_id, agent_id, scopes, expires_at, approved_by } = key;
  const { team_id, token_version } = agent;
  const identity = { tenant_id, scopes, token_id: id, expires_at: expires_at ?? NO_END };
  const approval = approved_by !== null && { approved_by };
  const caller = { ...identity, agent_id, team_id, key_id: id, token_version, ...approval };
  return withLimits({ kind: "agent", ...caller }, tenant, new Map([[id, key]]));
}

function currentAgent(caller: AgentCaller, { keys, agents }: Standing): AgentCaller | null {
  const key = keys.get(caller.key_id);
  const agent = agents.get(caller.agent_id);
  if (!key || !agent || agent.status !== "active") return null;
  if (!stands({ agent: caller.token_version }, { agent: agent.token_version })) return null;
  if (key.agent_id !== agent.id || agent.tenant_id !== caller.tenant_id) return null;
  // A token may have less than its key, never more.
  const scopes = caller.scopes.filter((scope) => key.scopes.includes(scope) || key.scopes.includes("admin"));
  const approval = key.approved_by !== null && { approved_by: key.approved_by };
  return { ...caller, team_id: agent.team_id, scopes, ...approval };
}

function currentUser(caller: UserCaller, { users }: Standing): UserCaller | null {
  const user = users.get(caller.user_id);
  if (user?.tenant_id !== caller.tenant_id) return null;
  if (!stands({ user: caller.token_version }, { user: user.token_version })) return null;
  return { ...caller, role: user.role, scopes: scopesForRole(user.role) };
}

async function load(
  ctx: Call,
  endedTokens: TenantCollection<EndedTokenDoc>,
  callers: readonly Caller[],
): Promise<Standing> {
  const agentCallers = callers.filter((caller) => caller.kind === "agent");
  const userCallers = callers.filter((caller) => caller.kind === "user");
  const tenant_ids = callers.map(({ tenant_id }) => tenant_id);
  const key_ids = agentCallers.map(({ key_id }) => key_id);
  const agent_ids = agentCallers.map(({ agent_id }) => agent_id);
  const user_ids = userCallers.map(({ user_id }) => user_id);
  const ended_ids = { _id: { $in: callers.flatMap(endingIds) } };
  const [tenants, keys, agents, users, ended] = await Promise.all([
    findAll<TenantState>(ctx, "tenants.get_many", "tenant_ids", tenant_ids),
    findAll<KeyState>(ctx, "keys.of_tokens", "key_ids", key_ids),
    findAll<AgentState>(ctx, "agents.of_tokens", "agent_ids", agent_ids),
    findAll<UserState>(ctx, "users.of_tokens", "user_ids", user_ids),
    endedTokens.system.find(ended_ids, { projection: { _id: 1 } }).toArray(),
  ]);
  return { tenants, keys, agents, users, ended: new Set(ended.map((doc) => doc._id)) };
}
