import type { Call, UserCaller } from "../../../lib/access/caller.ts";
import { deviceCookie } from "../../../lib/access/device-cookie.ts";
import { csrfToken, sessionCookie } from "../../../lib/access/session-cookie.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type { UserState } from "../users/users.contract.ts";
import type { finishOidc, startSession } from "./auth.contract.ts";
import type { Auth } from "./auth.ts";
import type { OidcSignIn } from "./oidc/oidc-sign-in.ts";
import { LONGEST_SESSION_SECONDS } from "./tokens.ts";
import { callingUser, showTenant } from "./who-am-i.ts";

/** Sessions of browsers: a person's token in a cookie that no script can read (api: People). */
export class BrowserSessions {
  readonly #runtime: Pick<Runtime, "config" | "secrets">;
  readonly #auth: Auth;
  readonly #oidc: OidcSignIn;

  constructor(runtime: Pick<Runtime, "config" | "secrets">, auth: Auth, oidc: OidcSignIn) {
    this.#runtime = runtime;
    this.#auth = auth;
    this.#oidc = oidc;
  }

  async start(ctx: CallOf<typeof startSession>) {
    const { config, secrets } = this.#runtime;
    const user = await this.#auth.credentials.checkPassword(ctx, "browser");
    // Exempts this browser from lockouts by failures of others at the same address.
    const device = { email: user.email, network: networkOf(ctx.meta.ip ?? "") };
    const mark = deviceCookie(secrets, device, config.PUBLIC_URL);
    return this.#give(ctx, user, undefined, [mark, ...this.#oidc.forget(ctx)]);
  }

  async startByOidc(ctx: CallOf<typeof finishOidc>) {
    const { user, cookie } = await this.#oidc.finish(ctx);
    return this.#give(ctx, user, undefined, [cookie]);
  }

  async read(ctx: Call) {
    const { token_id, expires_at } = ctx.meta.caller;
    return this.#present(ctx, await callingUser(ctx), token_id, new Date(expires_at).toISOString());
  }

  async renew(ctx: Call) {
    const { auth_time = 0, session_id } = ctx.meta.caller as UserCaller;
    if (this.#auth.now() / 1000 - auth_time > LONGEST_SESSION_SECONDS)
      throw new Fault(
        "authentication_failed",
        "The session has reached its limit of 12 hours. Sign in again.",
      );
    return this.#give(ctx, await callingUser(ctx), { auth_time, session_id });
  }

  async end(ctx: Call): Promise<{ sign_out_url: string | null }> {
    await this.#auth.signOut(ctx);
    this.#setCookies(ctx, null, this.#oidc.forget(ctx));
    return { sign_out_url: await this.#oidc.signOutUrl(ctx) };
  }

  async #give(
    ctx: Call,
    user: UserState,
    renewed?: { auth_time: number; session_id: string },
    others?: string[],
  ) {
    const { tokens } = this.#auth;
    const { tenant_id, id: user_id, role, token_version } = user;
    const token = await this.#auth.issueToken(ctx, { tenant_id, user_id, role, token_version, ...renewed });
    const { token_id } = tokens.read(token.access_token, this.#auth.now()) as UserCaller;
    this.#setCookies(ctx, token, others);
    return this.#present(ctx, user, token_id, token.expires_at);
  }

  #setCookies(ctx: Call, token: Parameters<typeof sessionCookie>[0], others: string[] = []): void {
    const session = sessionCookie(token, this.#runtime.config.PUBLIC_URL);
    ctx.meta.$responseHeaders = { "Set-Cookie": others.length ? [session, ...others] : session };
  }

  async #present(ctx: Call, user: UserState, token_id: string, expires_at: string) {
    const { id, tenant_id, email, display_name, role } = user;
    return {
      user: { id, email, display_name, role, tenant_id },
      tenant: await showTenant(ctx, tenant_id),
      expires_at,
      csrf_token: csrfToken(this.#runtime.secrets, token_id),
    };
  }
}
