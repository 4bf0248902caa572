import { type Call, NO_END, type UserCaller } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { findTenant } from "../tenants/find-tenants.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";

/** Returns the calling person. @throws Fault authentication_failed */
export async function callingUser(ctx: Call): Promise<UserState> {
  const { user_id } = ctx.meta.caller as UserCaller;
  const [user] = await ctx.call<UserState[], unknown>("users.of_tokens", { user_ids: [user_id] });
  if (!user)
    throw new Fault(
      "authentication_failed",
      "The user of this token no longer exists. Sign in as another user.",
    );
  return user;
}

/** Formats a tenant for its members. */
export async function showTenant(ctx: Call, tenant_id: string) {
  const { id, slug, name } = (await findTenant(ctx, tenant_id)) as TenantState;
  return { id, slug, name };
}

/** Describes the caller. */
export async function whoAmI(ctx: Call) {
  const { caller } = ctx.meta;
  const { kind, scopes, tenant_id } = caller;
  const tenant = await showTenant(ctx, tenant_id);
  const expires_at = caller.expires_at === NO_END ? null : new Date(caller.expires_at).toISOString();
  return { kind, ...(await describeCaller(ctx)), tenant, scopes, expires_at };
}

/** Describes how the calling person signs in. */
export function readWays(ctx: Call) {
  const { tenant_id, user_id } = ctx.meta.caller as UserCaller;
  return ctx.call("users.ways", { tenant_id, user_id });
}

async function describeCaller(ctx: Call): Promise<object> {
  const { caller } = ctx.meta;
  if (caller.kind === "agent") return { agent: await ctx.call("agents.get", { agent_id: caller.agent_id }) };
  const { id, display_name, role, tenant_id, email } = await callingUser(ctx);
  return { user: { id, display_name, role, tenant_id, email } };
}
