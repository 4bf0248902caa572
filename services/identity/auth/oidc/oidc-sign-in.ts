import * as client from "openid-client";
import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import type { Config } from "../../../../config.ts";
import type { Call } from "../../../../lib/access/caller.ts";
import { Fault, type FaultCode, isFault, notFound, unavailable } from "../../../../lib/contract/faults.ts";
import type { CallOf, Runtime } from "../../../runtime.ts";
import { originOf } from "../../tenants/origin.ts";
import type { TenantState } from "../../tenants/tenants.contract.ts";
import type { Admission, Identified, RefusedIdentity } from "../../users/identities.ts";
import type { UserState } from "../../users/users.contract.ts";
import type { finishOidcSignIn } from "../auth.contract.ts";
import { noteRefusedSignIn, noteSignIn } from "../sign-ins.ts";
import {
  type Attempt,
  type Claims,
  claimWithoutRole,
  combine,
  mapRole,
  OidcCookie,
  readProfile,
} from "./claims.ts";

/** The page of the console that the provider sends the browser back to. */
const CALLBACK = "/sign-in/callback";

const REFUSED: Record<RefusedIdentity | "no_role", string> = {
  no_role: "has not given you a role here. Ask an admin of the organisation for one.",
  disabled: "signed you in, but your account here is disabled. Ask an admin of the organisation.",
  no_email: "does not tell your e-mail address, which an account needs. Ask the operator to request it.",
  email_unverified:
    "has not verified your e-mail address, which an account here has already. Verify it there, then sign in again.",
  email_taken:
    "signed you in as somebody else than the account here with your e-mail address. Ask an admin to unlink it.",
};

/** What has signed in: the account, and the Set-Cookie for signing out. */
interface SignedIn {
  user: UserState;
  cookie: string;
}

/** Sign-in by the identity provider of the installation, if there is one. */
export class OidcSignIn {
  readonly #runtime: Runtime;
  readonly #provider: OidcProvider | null;
  readonly #cookie: OidcCookie;

  constructor(runtime: Runtime) {
    const { config, secrets } = runtime;
    this.#runtime = runtime;
    this.#provider = config.OIDC_ISSUER ? new OidcProvider(config) : null;
    this.#cookie = new OidcCookie(secrets, config.PUBLIC_URL);
  }

  /** The name of the provider; null without one. */
  get name(): string | null {
    return this.#provider && this.#runtime.config.OIDC_NAME;
  }

  /** Returns where to send the browser. */
  async begin(ctx: Call): Promise<{ url: string }> {
    const provider = this.#require();
    const redirect = (await this.#origin(ctx)) + CALLBACK;
    const { url, attempt } = await this.#ask(ctx, () => provider.begin(redirect));
    ctx.meta.$responseHeaders = { "Set-Cookie": this.#cookie.set(attempt, this.#now()) };
    return { url };
  }

  /** Returns who has come back from the provider. @throws Fault authentication_failed, forbidden */
  async finish(ctx: CallOf<typeof finishOidcSignIn>): Promise<SignedIn> {
    const provider = this.#require();
    const attempt = this.#cookie.read(ctx.meta.cookie, "attempt", this.#now());
    if (!attempt) throw refusedAnswer();
    const answer = new URL(CALLBACK, await this.#origin(ctx));
    answer.search = ctx.params.query;
    const { claims, id_token } = await this.#ask(ctx, () => provider.finish(answer, attempt));
    const user = await this.#admit(ctx, claims);
    return { user, cookie: this.#cookie.set({ kind: "done", id_token }, this.#now()) };
  }

  /** Returns where to sign out at the provider too; null if the session was not begun there. */
  async signOutUrl(ctx: Call): Promise<string | null> {
    const done = this.#cookie.read(ctx.meta.cookie, "done", this.#now());
    if (!done || !this.#provider) return null;
    const back = `${await this.#origin(ctx)}/`;
    // The session here has ended, even if the provider is away.
    return this.#provider.signOutUrl(done.id_token, back).catch((err) => {
      this.#report(ctx, err);
      return null;
    });
  }

  /** Returns the Set-Cookie for who signs out, or signs in otherwise; none for a browser without the cookie. */
  forget(ctx: Call): string[] {
    return ctx.meta.cookie === undefined ? [] : [this.#cookie.set(null, this.#now())];
  }

  async #admit(ctx: Call, claims: Claims): Promise<UserState> {
    const { OIDC_ROLE_CLAIM, OIDC_ROLES, OIDC_ISSUER } = this.#runtime.config;
    const { id: tenant_id } = await this.#tenant(ctx);
    const profile = readProfile(claims);
    const { subject } = profile;
    const by = { by: "oidc", subject };
    const role = mapRole(claims, OIDC_ROLE_CLAIM, OIDC_ROLES);
    if (!role) {
      const claim = claimWithoutRole(claims, OIDC_ROLE_CLAIM);
      return this.#refuse(ctx, { id: null, tenant_id }, "no_role", { ...by, claim });
    }
    const identified: Identified = { tenant_id, issuer: OIDC_ISSUER as string, ...profile, role };
    const admission = await ctx.call<Admission, Identified>("users.admit", identified);
    if ("refused" in admission)
      return this.#refuse(ctx, { id: admission.user_id, tenant_id }, admission.refused, by);
    const { user, by: way, role_before } = admission;
    const change = role_before && { role_before, role };
    await noteSignIn(ctx, user, "oidc", { ...(way !== "identity" && { [way]: true, subject }), ...change });
    return user;
  }

  async #refuse(
    ctx: Call,
    account: { id: string | null; tenant_id: string },
    reason: keyof typeof REFUSED,
    by: object,
  ): Promise<never> {
    const code: FaultCode = "forbidden";
    await noteRefusedSignIn(ctx, account, code, { ...by, reason });
    throw new Fault(code, `${this.name} ${REFUSED[reason]}`, { reason });
  }

  async #tenant(ctx: Call): Promise<TenantState> {
    const slug = this.#runtime.config.OIDC_TENANT;
    const tenant = await ctx.call<TenantState | null, object>("tenants.by_slug", { slug });
    if (tenant?.status === "active") return tenant;
    ctx.broker.logger.error(
      { slug },
      "OIDC_TENANT is not an active tenant: nobody can sign in by the provider",
    );
    throw new Fault("forbidden", `People of ${this.name} cannot sign in here right now. Ask the operator.`);
  }

  async #ask<T>(ctx: Call, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (err) {
      throw this.#report(ctx, err);
    }
  }

  #report(ctx: Call, err: unknown): Fault {
    const { fault, reason } = toFailure(err, this.name as string);
    const { request_id, ip } = ctx.meta;
    ctx.broker.logger.warn({ reason, request_id, ip }, "a sign-in by the identity provider failed");
    return fault;
  }

  /** @throws Fault not_found without a provider */
  #require(): OidcProvider {
    if (this.#provider) return this.#provider;
    throw notFound("identity_provider", "OIDC_ISSUER");
  }

  #origin(ctx: Call): Promise<string> {
    return originOf(ctx.broker, this.#runtime.config);
  }

  #now(): number {
    return this.#runtime.store.now();
  }
}

function refusedAnswer(): Fault {
  const message =
    "This sign-in was not begun in this browser and at this address, or took more than 10 minutes. Start again.";
  return new Fault("authentication_failed", message, { reason: "no_attempt" });
}

/** Errors of a connection or of an answer that is no OpenID Connect: the provider is away, or something is between. */
const AWAY = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);
const NAME = /^[\w.-]{1,64}$/;

/** A failure of the provider: the fault for the caller, and what the log may say about it. */
interface ProviderFailure {
  fault: Fault;
  /** Codes only: messages and causes can quote tokens. */
  reason: string;
}

/** @param provider its name on the button (`OIDC_NAME`) */
function toFailure(err: unknown, provider: string): ProviderFailure {
  if (isFault(err)) return { fault: err, reason: err.type };
  if (err instanceof AuthorizationResponseError) {
    const reason = named(err.error);
    const message = `${provider} did not sign you in (${reason}). Try again, or ask its administrator.`;
    return { reason, fault: refused(message, "provider_refused") };
  }
  if (err instanceof ResponseBodyError) return refusedExchange(named(err.error), provider);
  const code = err instanceof ClientError ? named(err.code) : "connection";
  if (!(err instanceof ClientError) || AWAY.has(code))
    return { reason: code, fault: unavailable(`${provider} cannot be reached right now. Try again later.`) };
  const message = `The answer of ${provider} is not valid for this sign-in. Start again.`;
  return { reason: code, fault: refused(message, "invalid_answer") };
}

function refusedExchange(reason: string, provider: string): ProviderFailure {
  if (reason === "invalid_grant") {
    const message = `${provider} no longer accepts this sign-in. Start again.`;
    return { reason, fault: refused(message, "invalid_answer") };
  }
  const message = `${provider} refuses this service (${reason}). Its operator must check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.`;
  return { reason, fault: unavailable(message, 60) };
}

function refused(message: string, reason: string): Fault {
  return new Fault("authentication_failed", message, { reason });
}

function named(code: unknown): string {
  return typeof code === "string" && NAME.test(code) ? code : "unknown error";
}

/** Longest wait for an answer of the provider. */
const TIMEOUT_SECONDS = 5;
/** After this time the provider's settings are read again. */
const SETTINGS_KEPT_MS = 3600_000;

/** The provider's answer about a person. */
interface Identity {
  claims: Claims;
  id_token: string;
}

/**
 * The identity provider of the installation: the authorization code flow with PKCE, state and nonce
 * (docs/decisions/0044-oidc.md). Its settings are discovered at the first sign-in, so that the service starts without it.
 */
class OidcProvider {
  readonly #config: Config;
  readonly #issuer: URL;
  #settings: { asked_at: number; answer: Promise<client.Configuration> } | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#issuer = new URL(config.OIDC_ISSUER as string);
  }

  /** Returns where to send a browser to sign in, and what the answer must fit. */
  async begin(redirect_uri: string): Promise<{ url: string; attempt: Attempt }> {
    const settings = await this.#discover();
    const attempt: Attempt = {
      kind: "attempt",
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(settings, {
      redirect_uri,
      scope: this.#config.OIDC_SCOPES.join(" "),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, attempt };
  }

  /** Exchanges the code in the provider's answer, and checks everything that comes back. */
  async finish(answer: URL, { state, nonce, verifier }: Attempt): Promise<Identity> {
    const settings = await this.#discover();
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
    const tokens = await client.authorizationCodeGrant(settings, answer, checks);
    const idToken = tokens.claims() as client.IDToken;
    const hasUserInfo = settings.serverMetadata().userinfo_endpoint !== undefined;
    const userInfo = hasUserInfo
      ? await client.fetchUserInfo(settings, tokens.access_token, idToken.sub)
      : { sub: idToken.sub };
    return { claims: combine(idToken, userInfo), id_token: tokens.id_token as string };
  }

  /** Returns where to send a browser to sign out at the provider too; null if it has no such page. */
  async signOutUrl(id_token: string | null, post_logout_redirect_uri: string): Promise<string | null> {
    const settings = await this.#discover();
    if (!settings.serverMetadata().end_session_endpoint) return null;
    const hint: Record<string, string> = id_token === null ? {} : { id_token_hint: id_token };
    return client.buildEndSessionUrl(settings, { ...hint, post_logout_redirect_uri }).href;
  }

  /** Concurrent sign-ins share one question; a failed one is not kept. */
  #discover(): Promise<client.Configuration> {
    const now = performance.now();
    const known = this.#settings;
    if (known && now - known.asked_at < SETTINGS_KEPT_MS) return known.answer;
    const fresh = { asked_at: now, answer: this.#ask() };
    this.#settings = fresh;
    fresh.answer.catch(() => {
      if (this.#settings === fresh) this.#settings = undefined;
    });
    return fresh.answer;
  }

  #ask(): Promise<client.Configuration> {
    const { OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = this.#config;
    // Signatures are checked too, not only the connection that tokens come from. Without TLS: loopback only (config.ts).
    const execute = [client.enableNonRepudiationChecks];
    if (this.#issuer.protocol === "http:") execute.push(client.allowInsecureRequests);
    const authentication = OIDC_CLIENT_SECRET ? withSecret(OIDC_CLIENT_SECRET) : client.None();
    const options = { execute, timeout: TIMEOUT_SECONDS };
    return client.discovery(this.#issuer, OIDC_CLIENT_ID as string, undefined, authentication, options);
  }
}

/** Sends the secret by HTTP Basic, the standard's default, unless the provider lists other methods only. */
function withSecret(secret: string): client.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods } = server;
    const isBasic = methods === undefined || methods.includes("client_secret_basic");
    return (isBasic ? basic : post)(server, ...rest);
  };
}
