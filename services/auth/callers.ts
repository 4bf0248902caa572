import type { AgentCaller, Call, Caller, UserCaller } from "../../lib/caller.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import type { EndedTokenDoc } from "./auth.model.ts";
import { scopesOf } from "./tokens.ts";

/** What callers stand on, by id; what is absent is gone, revoked, expired, disabled or never was. */
interface Standing {
  tenants: Map<string, TenantState>;
  keys: Map<string, KeyState>;
  agents: Map<string, AgentState>;
  users: Map<string, UserState>;
  ended: Set<string>;
}

/**
 * The callers as the store knows them now, in order; null where a token is no longer good: it was ended or has
 * expired, its key was revoked or has expired, its agent is inactive, its user disabled or has a new password, its
 * tenant is not active. Five look-ups, however many callers.
 */
export async function currentCallers(
  ctx: Call,
  endedTokens: TenantCollection<EndedTokenDoc>,
  now: number,
  callers: readonly Caller[],
): Promise<(Caller | null)[]> {
  const standing = await load(ctx, endedTokens, callers);
  return callers.map((caller) => {
    if (caller.expires_at <= now || standing.ended.has(caller.token_id)) return null;
    if (standing.tenants.get(caller.tenant_id)?.status !== "active") return null;
    return caller.kind === "agent" ? currentAgent(caller, standing) : currentUser(caller, standing);
  });
}

function currentAgent(caller: AgentCaller, { keys, agents }: Standing): AgentCaller | null {
  const key = keys.get(caller.key_id);
  const agent = agents.get(caller.agent_id);
  if (!key || !agent || agent.status !== "active") return null;
  if (key.agent_id !== agent.id || agent.tenant_id !== caller.tenant_id) return null;
  return { ...caller, team_id: agent.team_id, scopes: key.scopes };
}

function currentUser(caller: UserCaller, { users }: Standing): UserCaller | null {
  const user = users.get(caller.user_id);
  if (!user || user.tenant_id !== caller.tenant_id || user.token_version !== caller.token_version)
    return null;
  return { ...caller, role: user.role, scopes: scopesOf(user.role) };
}

async function load(
  ctx: Call,
  endedTokens: TenantCollection<EndedTokenDoc>,
  callers: readonly Caller[],
): Promise<Standing> {
  const agentCallers = callers.filter((caller) => caller.kind === "agent");
  const userCallers = callers.filter((caller) => caller.kind === "user");
  const token_ids = callers.map((caller) => caller.token_id);
  const [tenants, keys, agents, users, ended] = await Promise.all([
    ask<TenantState>(
      ctx,
      "tenants.get_many",
      "tenant_ids",
      callers.map((caller) => caller.tenant_id),
    ),
    ask<KeyState>(
      ctx,
      "keys.of_tokens",
      "key_ids",
      agentCallers.map((caller) => caller.key_id),
    ),
    ask<AgentState>(
      ctx,
      "agents.of_tokens",
      "agent_ids",
      agentCallers.map((caller) => caller.agent_id),
    ),
    ask<UserState>(
      ctx,
      "users.of_tokens",
      "user_ids",
      userCallers.map((caller) => caller.user_id),
    ),
    endedTokens.system.find({ _id: { $in: token_ids } }, { projection: { _id: 1 } }).toArray(),
  ]);
  return { tenants, keys, agents, users, ended: new Set(ended.map((doc) => doc._id)) };
}

async function ask<T extends { id: string }>(
  ctx: Call,
  action: string,
  param: string,
  ids: string[],
): Promise<Map<string, T>> {
  if (ids.length === 0) return new Map();
  const rows = (await ctx.call(action, { [param]: [...new Set(ids)] })) as T[];
  return new Map(rows.map((row) => [row.id, row]));
}
