import * as client from "openid-client";
import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import type { Config } from "../../../../config.ts";
import { type Fault, isFault, unauthenticated, unavailable } from "../../../../lib/contract/faults.ts";
import { type Attempt, type Claims, combine } from "./claims.ts";

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
export class OidcProvider {
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

  /** Returns the fault for the caller of a sign-in that failed. */
  toFailure(err: unknown): ProviderFailure {
    const provider = this.#config.OIDC_NAME;
    if (isFault(err)) return { fault: err, reason: err.type };
    if (err instanceof AuthorizationResponseError) {
      const reason = named(err.error);
      const message = `${provider} did not sign you in (${reason}). Try again, or ask its administrator.`;
      return { reason, fault: refused(message, "provider_refused") };
    }
    if (err instanceof ResponseBodyError) return refusedExchange(named(err.error), provider);
    const code = err instanceof ClientError ? named(err.code) : "connection";
    if (!(err instanceof ClientError) || AWAY.has(code))
      return {
        reason: code,
        fault: unavailable(`${provider} cannot be reached right now. Try again later.`),
      };
    const message = `The answer of ${provider} is not valid for this sign-in. Start again.`;
    return { reason: code, fault: refused(message, "invalid_answer") };
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
function refusedExchange(reason: string, provider: string): ProviderFailure {
  if (reason === "invalid_grant") {
    const message = `${provider} no longer accepts this sign-in. Start again.`;
    return { reason, fault: refused(message, "invalid_answer") };
  }
  const message = `${provider} refuses this service (${reason}). Its operator must check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.`;
  return { reason, fault: unavailable(message, 60) };
}

function refused(message: string, reason: string): Fault {
  return unauthenticated(message, { reason });
}

function named(code: unknown): string {
  return typeof code === "string" && NAME.test(code) ? code : "unknown error";
}
