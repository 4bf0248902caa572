import { Fault, unauthenticated } from "../../../lib/contract/faults.ts";

/** Codes of OAuth 2.0 and its extensions (RFC 6749, 7591, 8628, 8707). */
export type OAuthError =
  | "invalid_request"
  | "invalid_grant"
  | "invalid_client"
  | "unauthorized_client"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "authorization_pending"
  | "slow_down"
  | "access_denied"
  | "expired_token";

/** A device that polls as it should fails no attempt. */
const EARLY: readonly OAuthError[] = ["authorization_pending", "slow_down"];

/** Returns the fault that the gateway answers as an error of OAuth (access/oauth.ts). */
export function oauthFault(oauth: OAuthError, message: string): Fault {
  if (oauth === "invalid_client") return unauthenticated(message, { oauth });
  return new Fault(EARLY.includes(oauth) ? "conflict" : "validation_error", message, { oauth });
}
