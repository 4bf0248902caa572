import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { Fault, isFault, unavailable } from "../../../../lib/contract/faults.ts";

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
export interface ProviderFailure {
  fault: Fault;
  /** Codes only: messages and causes can quote tokens. */
  reason: string;
}

/** @param provider its name on the button (`OIDC_NAME`) */
export function toFailure(err: unknown, provider: string): ProviderFailure {
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
