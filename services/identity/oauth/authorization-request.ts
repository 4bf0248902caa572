import { hasScope, SCOPES, type Scope, type UserCaller } from "../../../lib/access/caller.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import type { Client } from "./clients.ts";
import { OFFERED_SCOPES } from "./oauth.contract.ts";
import type { OAuthError } from "./oauth-fault.ts";
import { isRegistered } from "./redirects.ts";
import { resolveResource } from "./resources.ts";

/** What a client asks for. */
export interface AuthorizationRequest {
  redirect_uri: string;
  code_challenge: string;
  resource: string;
  /** Requested scopes that the person may grant. */
  scopes: readonly Scope[];
}

/** A mistake that the client is told of. */
export interface Refusal {
  error: OAuthError | "unsupported_response_type";
  error_description: string;
}

/** S256: 43 characters of base64url (RFC 7636). */
const CHALLENGE = /^[\w-]{43}$/;

/** @throws Fault validation_error for a name that occurs twice, which programs read differently */
export function parseParameters(query: string): URLSearchParams {
  const parameters = new URLSearchParams(query);
  // RFC 8707 allows several.
  const isTwice = (name: string) => name !== "resource" && parameters.getAll(name).length > 1;
  const twice = [...parameters.keys()].find(isTwice);
  if (twice === undefined) return parameters;
  throw invalidValue("query", `query: ${twice.slice(0, 100)} occurs more than once.`);
}

/**
 * Returns where the answer to a request goes.
 *
 * @throws Fault validation_error if the client has not registered it: then there is nobody to answer
 */
export function findRedirectUri(parameters: URLSearchParams, { redirect_uris }: Client): string {
  const redirect_uri = parameters.get("redirect_uri") ?? "";
  if (isRegistered(redirect_uri, redirect_uris)) return redirect_uri;
  throw invalidValue(
    "redirect_uri",
    "redirect_uri: expected one that the client has registered, exactly; only the port of a loopback address is free.",
  );
}

/** Checks everything else about a request. @param origin of this service, as the person uses it */
export function readParameters(
  parameters: URLSearchParams,
  { grant_types }: Client,
  origin: string,
  caller: UserCaller,
): Omit<AuthorizationRequest, "redirect_uri"> | Refusal {
  const code_challenge = parameters.get("code_challenge") ?? "";
  const resource = resolveResource(parameters.getAll("resource").join(" "), origin);
  const scopes = grantableScopes(parameters.get("scope"), caller);
  if (parameters.get("response_type") !== "code")
    return refusal("unsupported_response_type", "response_type: expected code");
  if (!grant_types.includes("authorization_code"))
    return refusal("unauthorized_client", "grant_types: the client does not offer authorization_code");
  if (parameters.get("code_challenge_method") !== "S256" || !CHALLENGE.test(code_challenge))
    return refusal("invalid_request", "PKCE is required: code_challenge, with code_challenge_method=S256");
  if (resource === null) return refusal("invalid_target", `resource: expected ${origin}/mcp or ${origin}`);
  if (scopes.length === 0)
    return refusal("invalid_scope", "scope: the person may grant none of the requested scopes");
  return { code_challenge, resource, scopes };
}

/** Returns the requested scopes that a person may grant. Those of other services are ignored; if there are no others, all. */
export function grantableScopes(scope: string | null, caller: UserCaller): Scope[] {
  const requested = scope?.split(" ").filter(Boolean) ?? [];
  const known = SCOPES.filter((each) => requested.includes(each));
  return (known.length === 0 ? OFFERED_SCOPES : known).filter((each) => hasScope(caller, each));
}

function refusal(error: Refusal["error"], error_description: string): Refusal {
  return { error, error_description };
}

/** Returns the address of an answer to the client (RFC 6749, RFC 9207); `state` is returned as it came. */
export function answerUri(
  redirect_uri: string,
  parameters: URLSearchParams,
  origin: string,
  answer: Record<string, string>,
): string {
  const state = parameters.get("state");
  const all = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss: origin });
  return redirect_uri + (redirect_uri.includes("?") ? "&" : "?") + all;
}
