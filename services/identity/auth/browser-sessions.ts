import type { Config } from "../../../config.ts";
import type { Call, Caller, UserCaller } from "../../../lib/access/caller.ts";
import { deviceCookie } from "../../../lib/access/device-cookie.ts";
import { csrfToken, sessionCookie } from "../../../lib/access/session-cookie.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { action } from "../../runtime.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import { endSession, readSession, renewSession, startSession } from "./auth.contract.ts";
import type { Login, SignInKind } from "./sign-ins.ts";
import { TOKEN_SECONDS, type Tokens } from "./tokens.ts";

const LONGEST_SESSION_SECONDS = 12 * 3600;

/** Returns when the last token that can derive from a caller's sign-in expires, in milliseconds since the epoch. */
export function lastExpiry(caller: Caller): number {
  if (caller.kind === "agent") return caller.expires_at;
  const renewed = ((caller.auth_time ?? 0) + LONGEST_SESSION_SECONDS + TOKEN_SECONDS) * 1000;
  return Math.max(caller.expires_at, renewed);
}

interface Parts {
  config: Pick<Config, "PUBLIC_URL">;
  secrets: SecretBox;
  now(): number;
  tokens(): Tokens;
  /** @throws Fault authentication_failed, rate_limited */
  checkPassword(ctx: Call<Login>, by: SignInKind): Promise<UserState>;
  /** Ends the caller's session. */
  end(ctx: Call): Promise<void>;
}

/** Actions of a browser session: a person's token in a cookie that no script can read (api: People). */
export function sessionActions({ config, secrets, now, tokens, checkPassword, end }: Parts) {
  function setCookie(ctx: Call, token: { access_token: string; expires_at: string } | null): void {
    ctx.meta.$responseHeaders = { "Set-Cookie": sessionCookie(token, config.PUBLIC_URL) };
  }

  /** Exempts this browser from lockouts by failures of others at the same address. */
  function markDevice(ctx: Call, email: string): void {
    const { "Set-Cookie": session } = ctx.meta.$responseHeaders as Record<string, string>;
    const mark = deviceCookie(secrets, { email, network: networkOf(ctx.meta.ip ?? "") }, config.PUBLIC_URL);
    ctx.meta.$responseHeaders = { "Set-Cookie": [session as string, mark] };
  }

  async function present(ctx: Call, user: UserState, token_id: string, expires_at: string) {
    const { id, tenant_id, email, display_name, role } = user;
    const [tenant] = (await ctx.call("tenants.get_many", { tenant_ids: [tenant_id] })) as TenantState[];
    const { slug, name } = tenant as TenantState;
    return {
      user: { id, email, display_name, role, tenant_id },
      tenant: { id: tenant_id, slug, name },
      expires_at,
      csrf_token: csrfToken(secrets, token_id),
    };
  }

  async function give(ctx: Call, user: UserState, renewed?: Pick<UserCaller, "auth_time" | "session_id">) {
    const { tenant_id, id: user_id, role, token_version } = user;
    const subject = {
      tenant_id,
      user_id,
      role,
      token_version,
      ...(renewed && { session_id: renewed.session_id, auth_time: renewed.auth_time as number }),
    };
    const token = tokens().issue(subject, now());
    const { token_id } = tokens().read(token.access_token, now()) as UserCaller;
    setCookie(ctx, token);
    return present(ctx, user, token_id, token.expires_at);
  }

  async function userOf(ctx: Call): Promise<UserState> {
    const { user_id } = ctx.meta.caller as UserCaller;
    const [user] = (await ctx.call("users.of_tokens", { user_ids: [user_id] })) as UserState[];
    if (!user) throw new Fault("authentication_failed", "The user is not there any more.");
    return user;
  }

  return {
    start_session: action(startSession, async (ctx) => {
      const user = await checkPassword(ctx, "browser");
      const session = await give(ctx, user);
      markDevice(ctx, user.email);
      return session;
    }),

    session: action(readSession, async (ctx) => {
      const { token_id, expires_at } = ctx.meta.caller;
      return present(ctx, await userOf(ctx), token_id, new Date(expires_at).toISOString());
    }),

    renew_session: action(renewSession, async (ctx) => {
      const { auth_time = 0, session_id } = ctx.meta.caller as UserCaller;
      if (now() / 1000 - auth_time > LONGEST_SESSION_SECONDS)
        throw new Fault("authentication_failed", "The session has lasted for 12 hours: sign in again.");
      return give(ctx, await userOf(ctx), { auth_time, session_id });
    }),

    end_session: action(endSession, async (ctx) => {
      await end(ctx);
      setCookie(ctx, null);
    }),
  };
}
