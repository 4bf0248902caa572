import { type Call, type Caller, NO_END, type UserCaller } from "../../../lib/access/caller.ts";
import { deviceCookie } from "../../../lib/access/device-cookie.ts";
import { csrfToken, sessionCookie } from "../../../lib/access/session-cookie.ts";
import { invalidValue, ruleBroken, unauthenticated } from "../../../lib/contract/faults.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import {
  action,
  type CallOf,
  event,
  idempotent,
  internal,
  type Runtime,
  type ServiceFactory,
} from "../../runtime.ts";
import { findTenant } from "../tenants/find-tenants.ts";
import type { TenantState } from "../tenants/tenants.contract.ts";
import type { UserState } from "../users/users.contract.ts";
import type { finishOidcSignIn, startBrowserSession } from "./auth.contract.ts";
import * as contract from "./auth.contract.ts";
import { Auth, type ClientToken, requireToken, type Verified } from "./auth.ts";
import { tryOwn } from "./credentials.ts";
import { getJwks } from "./jwks.contract.ts";
import { OidcSignIn } from "./oidc/oidc-sign-in.ts";
import * as factorContract from "./second-factor.contract.ts";
import { JWKS_SECONDS } from "./signing-keys.ts";
import { LONGEST_SESSION_SECONDS } from "./tokens.ts";

const SWEEP_MS = 10 * 60_000;
/** How often every node reads the signing keys, in case it missed the event. */
const SIGNING_KEYS_MS = 60_000;

export const authService: ServiceFactory = (runtime) => {
  const auth = new Auth(runtime);
  const oidc = new OidcSignIn(runtime);
  const sessions = new BrowserSessions(runtime, auth, oidc);
  const keys = auth.signingKeys;
  const follow = new ServiceLoop("signing keys", () => keys.load().then(() => false), SIGNING_KEYS_MS);
  const sweep = new SharedLoop(
    "ended tokens",
    async () => (await keys.retireEnded()) || auth.removeExpired(),
    SWEEP_MS,
  );

  return {
    name: "auth",
    mixins: [follow.mixin, sweep.mixin],
    actions: {
      token: action(contract.createAccessToken, (ctx) => auth.exchangeKey(ctx)),
      login: action(contract.logIn, (ctx) => auth.login(ctx)),
      logout: action(contract.logOut, (ctx) => {
        requireToken(ctx.meta.caller);
        return auth.signOut(ctx);
      }),
      me: action(contract.getCaller, whoAmI),
      password: action(contract.changePassword, (ctx) => auth.changePassword(ctx)),
      start_session: action(contract.startBrowserSession, (ctx) => sessions.start(ctx)),
      session: action(contract.getBrowserSession, (ctx) => sessions.read(ctx)),
      renew_session: action(contract.renewBrowserSession, (ctx) => sessions.renew(ctx)),
      end_session: action(contract.endBrowserSession, (ctx) => sessions.end(ctx)),
      methods: action(contract.getSignInMethods, () => ({
        password: runtime.config.PASSWORD_SIGN_IN,
        oidc: oidc.name === null ? null : { name: oidc.name },
      })),
      begin_oidc: action(contract.beginOidcSignIn, (ctx) => oidc.begin(ctx)),
      finish_oidc: action(contract.finishOidcSignIn, (ctx) => sessions.startByOidc(ctx)),
      sign_in_ways: action(factorContract.getOwnSignInMethods, (ctx) => {
        const { tenant_id, user_id } = ctx.meta.caller as UserCaller;
        return ctx.call("users.ways", { tenant_id, user_id });
      }),
      begin_totp: action(factorContract.beginTotpSetup, beginTotp),
      confirm_totp: action(factorContract.confirmTotpSetup, confirmTotp),
      remove_totp: action(factorContract.removeTotp, removeTotp),
      jwks: action(getJwks, (ctx) => {
        ctx.meta.$responseHeaders = { "Cache-Control": `public, max-age=${JWKS_SECONDS}` };
        return { keys: keys.jwks(auth.now(), ctx.params) };
      }),

      issue: internal<ClientToken>((ctx) => auth.issue(ctx)),
      verify_all: idempotent<{ tokens: string[] }>((ctx) => auth.verifyAll(ctx, ctx.params.tokens)),
      verify_keys: idempotent<{ hashes: string[] }>((ctx) => auth.verifyKeys(ctx, ctx.params.hashes)),
      // One credential each, for gateways of the build before.
      verify: idempotent<{ token: string }>(async (ctx) =>
        onlyCaller(await auth.verifyAll(ctx, [ctx.params.token])),
      ),
      verify_key: idempotent<{ hash: string }>(async (ctx) =>
        onlyCaller(await auth.verifyKeys(ctx, [ctx.params.hash])),
      ),
      states: idempotent<{ callers: Caller[] }>((ctx) => auth.current(ctx, ctx.params.callers)),

      signing_keys: idempotent(() => keys.states(auth.now())),
      rotate_signing_key: internal<{ at_once: boolean }>(async (ctx) => {
        await keys.rotate(ctx.params.at_once);
        await ctx.broadcast("auth.signing_keys");
        return keys.states(auth.now());
      }),

      /** Signs a statement of the service (RFC 7519) that its JWKS verifies. */
      sign_receipt: internal<{ claims: object }>(({ params }) =>
        auth.tokens.receipt(params.claims, auth.now()),
      ),
    },

    events: {
      "auth.signing_keys": event(() => follow.nudge()),
    },

    started: () => keys.load(),
  };
};

/** @throws Fault authentication_failed if the caller is refused */
function onlyCaller(verified: Verified[]): Caller {
  const [{ caller, fault }] = verified as [Verified];
  if (fault) throw unauthenticated(fault.message, fault.data);
  return caller;
}

/** Returns the calling person. @throws Fault authentication_failed */
async function callingUser(ctx: Call): Promise<UserState> {
  const { user_id } = ctx.meta.caller as UserCaller;
  const [user] = await ctx.call<UserState[], unknown>("users.of_tokens", { user_ids: [user_id] });
  if (!user) throw unauthenticated("The user of this token no longer exists. Sign in as another user.");
  return user;
}

/** Formats a tenant for its members. */
async function showTenant(ctx: Call, tenant_id: string) {
  const { id, slug, name } = (await findTenant(ctx, tenant_id)) as TenantState;
  return { id, slug, name };
}

/** Describes the caller. */
async function whoAmI(ctx: Call) {
  const { caller } = ctx.meta;
  const { kind, scopes, tenant_id } = caller;
  const tenant = await showTenant(ctx, tenant_id);
  const expires_at = caller.expires_at === NO_END ? null : new Date(caller.expires_at).toISOString();
  return { kind, ...(await describeCaller(ctx)), tenant, scopes, expires_at };
}

async function describeCaller(ctx: Call): Promise<object> {
  const { caller } = ctx.meta;
  if (caller.kind === "agent") return { agent: await ctx.call("agents.get", { agent_id: caller.agent_id }) };
  const { id, display_name, role, tenant_id, email } = await callingUser(ctx);
  return { user: { id, display_name, role, tenant_id, email } };
}

const WRONG_PASSWORD = "password: it is wrong. Send the password that you sign in with.";

async function beginTotp(ctx: CallOf<typeof factorContract.beginTotpSetup>) {
  const { password } = ctx.params;
  const seed = ctx.meta.idempotency_seed;
  const { has_password } = await callingUser(ctx);
  if (!has_password)
    throw ruleBroken(
      "no_password",
      "You sign in by the identity provider alone: set up a second factor there.",
    );
  const wrong = invalidValue("password", WRONG_PASSWORD);
  return tryOwn(ctx, wrong, (person) =>
    ctx.call<{ secret: string; uri: string } | null, object>("users.begin_totp", {
      ...person,
      password,
      seed,
    }),
  );
}

function confirmTotp(ctx: CallOf<typeof factorContract.confirmTotpSetup>) {
  const { code } = ctx.params;
  const seed = ctx.meta.idempotency_seed;
  const wrong = invalidValue(
    "code",
    "code: it is wrong. Check the time of the device with the authenticator.",
  );
  return tryOwn(ctx, wrong, async (person) => {
    type Confirmed = { recovery_codes: string[] | null };
    const confirmed = await ctx.call<Confirmed, object>("users.confirm_totp", { ...person, code, seed });
    return confirmed.recovery_codes && confirmed;
  });
}

async function removeTotp(ctx: CallOf<typeof factorContract.removeTotp>): Promise<void> {
  const { password, recovery_code } = ctx.params;
  if ((password === undefined) === (recovery_code === undefined))
    throw invalidValue("password", "password: send either it or a recovery_code.");
  const field = password === undefined ? "recovery_code" : "password";
  const wrong = invalidValue(
    field,
    password === undefined ? "recovery_code: it is wrong or was used." : WRONG_PASSWORD,
  );
  await tryOwn(ctx, wrong, async (person) => {
    const removed = await ctx.call<boolean, object>("users.remove_totp", {
      ...person,
      password,
      recovery_code,
    });
    return removed || null;
  });
}

/** Sessions of browsers: a person's token in a cookie that no script can read (api: People). */
class BrowserSessions {
  readonly #runtime: Pick<Runtime, "config" | "secrets">;
  readonly #auth: Auth;
  readonly #oidc: OidcSignIn;

  constructor(runtime: Pick<Runtime, "config" | "secrets">, auth: Auth, oidc: OidcSignIn) {
    this.#runtime = runtime;
    this.#auth = auth;
    this.#oidc = oidc;
  }

  async start(ctx: CallOf<typeof startBrowserSession>) {
    const { config, secrets } = this.#runtime;
    const user = await this.#auth.credentials.checkPassword(ctx, "browser");
    // Exempts this browser from lockouts by failures of others at the same address.
    const device = { email: user.email, network: networkOf(ctx.meta.ip ?? "") };
    const mark = deviceCookie(secrets, device, config.PUBLIC_URL);
    return this.#give(ctx, user, undefined, [mark, ...this.#oidc.forget(ctx)]);
  }

  async startByOidc(ctx: CallOf<typeof finishOidcSignIn>) {
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
      throw unauthenticated("The session has reached its limit of 12 hours. Sign in again.");
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
