import { type Call, type Caller, hasScope, isAdmin, SCOPES, type Scope } from "../../../lib/access/caller.ts";
import { lacksScope } from "../../../lib/contract/faults.ts";
import type { AgentState } from "../agents/agents.contract.ts";
import { requireAgent } from "../agents/find-agent.ts";

/**
 * Returns the agent if the caller may manage its devices (api: Device connection).
 * @throws Fault not_found, insufficient_scope
 */
export async function ownAgent(ctx: Call, agent_id: string): Promise<AgentState> {
  const agent = await requireAgent(ctx, agent_id);
  if (maySeeDevices(ctx.meta.caller, agent)) return agent;
  throw lacksScope(
    "admin",
    "Only the agent itself, its owner and admins can manage its devices: use a key with the scope admin.",
  );
}

/** Whether the caller is an admin, the agent itself or its owner. The agent must be of the caller's tenant. */
export function maySeeDevices(
  caller: Caller,
  { id, owner_user_id }: Pick<AgentState, "id" | "owner_user_id">,
): boolean {
  if (isAdmin(caller)) return true;
  return caller.kind === "agent" ? caller.agent_id === id : caller.user_id === owner_user_id;
}

const BY_DEFAULT = SCOPES.filter((scope) => scope !== "admin");

/**
 * Returns the scopes of a device's key: at most those of the issuer of its code.
 * @throws Fault insufficient_scope if the issuer requests more than it has.
 */
export function scopesToIssue(issuer: Caller, wanted: readonly Scope[] | undefined): readonly Scope[] {
  if (!wanted) return BY_DEFAULT.filter((scope) => hasScope(issuer, scope));
  const missing = wanted.find((scope) => !hasScope(issuer, scope));
  if (missing === undefined) return wanted;
  throw lacksScope(missing, `A code can have only scopes of its issuer: you lack ${missing}.`);
}
