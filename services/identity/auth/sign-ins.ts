import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { FaultCode } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { MINUTE_MS } from "../../../lib/time.ts";
import type { AuditRecord } from "../audit/audit.service.ts";
import type { UserState } from "../users/users.contract.ts";

/** The credentials of a person. */
export interface Login {
  email: string;
  password: string;
  tenant_slug?: string | undefined;
  /** The second factor, if the account has one. */
  code?: string | undefined;
}

/** Kind of sign-in: a token in the answer, or a cookie, by a password or the identity provider. */
export type SignInKind = "token" | "browser" | "oidc";

type User = Pick<UserState, "id" | "tenant_id">;

/** Records a sign-in in the audit log. */
export function noteSignIn(
  ctx: Call,
  { id, tenant_id }: User,
  by: SignInKind,
  more: Record<string, unknown> = {},
): Promise<void> {
  return note(ctx, { ...makeEntry("auth.login", { id, tenant_id }), actor_id: id, details: { by, ...more } });
}

/**
 * Records a refused sign-in of somebody who has shown the first part of their credentials. @param id the account, if
 * there is one
 */
export function noteRefusedSignIn(
  ctx: Call,
  { id, tenant_id }: { id: string | null; tenant_id: string },
  error: FaultCode,
  details: Record<string, unknown>,
): Promise<void> {
  const entry = { ...makeEntry("auth.login", { id, tenant_id }), actor_id: null };
  return note(ctx, { ...entry, outcome: "refused", error, details });
}

/** Records a sign-out in the audit log. */
export function noteSignOut(ctx: Call): Promise<void> {
  const { caller } = ctx.meta;
  const id = callerId(caller);
  return note(ctx, { ...makeEntry("auth.logout", { id, tenant_id: caller.tenant_id }), actor_id: id });
}

/**
 * Records a failed sign-in for every account that it may have targeted, once a minute per network. Without a named
 * tenant the address is omitted: other tenants must not learn where a person is.
 */
export async function noteFailedSignIn(
  ctx: Call,
  { email, tenant_slug }: Pick<Login, "email" | "tenant_slug">,
  now: number,
): Promise<void> {
  const { ip, request_id } = ctx.meta;
  ctx.broker.logger.info({ ip, request_id }, "a sign-in failed");
  try {
    const users = (await ctx.call("users.with_email", { email, tenant_slug })) as User[];
    if (users.length === 0) return;
    const isTold = tenant_slug !== undefined || (await ctx.call<boolean, object>("tenants.is_only", {}));
    const source = `${networkOf(ip ?? "")} ${Math.floor(now / MINUTE_MS)}`;
    for (const user of users) {
      const entry = { ...makeEntry("auth.login", user), actor_id: null, dedupe: `${user.id} ${source}` };
      const refused = { outcome: "refused" as const, error: "authentication_failed" };
      await note(ctx, { ...entry, ...refused, ...(!isTold && { ip: null }) });
    }
  } catch (err) {
    ctx.broker.logger.error({ err, request_id }, "a failed sign-in could not be written to the audit log");
  }
}

function makeEntry(action: string, { id, tenant_id }: { id: string | null; tenant_id: string }) {
  return { tenant_id, action, actor_kind: "user" as const, resource_type: "user", resource_id: id };
}

/** A failing log must not prevent sign-ins, which are needed to repair it. */
async function note(ctx: Call, entry: AuditRecord): Promise<void> {
  const { request_id } = ctx.meta;
  await ctx.call("audit.record", entry).catch((err: unknown) => {
    ctx.broker.logger.error(
      { err, request_id, action: entry.action },
      "an entry could not be written to the audit log",
    );
  });
}
