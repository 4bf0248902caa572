import { FAULTS, type Fault, type FaultCode } from "../../../../lib/contract/faults.ts";

const BEARER = 'Bearer realm="sensorium"';
const IS_BEARER = /^Bearer\s/i;

/**
 * `details.reason` if a person's valid token was sent instead of an agent's: no reason to sign out or to refresh it.
 */
export const AGENT_IDENTITY_REQUIRED = "agent_identity_required";

/** The credential that an operation reads. */
export interface CredentialSource {
  /** The header of the request. */
  authorization: string | undefined;
  /** The address that says where to get a token (RFC 9728); undefined for tokens that no client gets by itself. */
  metadata: string | undefined;
}

/**
 * Returns the WWW-Authenticate header of a refusal (RFC 6750, section 3), or undefined if none is needed.
 * @param source the credential of the request, if the operation reads it
 */
export function challengeOf(fault: Fault, source: CredentialSource | undefined): string | undefined {
  const challenge = schemeOf(fault, source?.authorization);
  if (challenge === undefined || !source?.metadata) return challenge;
  const [, ...rest] = challenge.split(", ");
  return [BEARER, `resource_metadata="${source.metadata}"`, ...rest].join(", ");
}

function schemeOf(fault: Fault, authorization: string | undefined): string | undefined {
  const { reason, required_scope } = (fault.data ?? {}) as Record<string, unknown>;
  if (fault.type === "insufficient_scope") {
    const scope = typeof required_scope === "string" ? `, scope="${required_scope}"` : "";
    return `${BEARER}, error="insufficient_scope", error_description="${descriptionOf(fault)}"${scope}`;
  }
  if (FAULTS[fault.type as FaultCode].status !== 401) return undefined;
  const isInvalid = reason !== AGENT_IDENTITY_REQUIRED && IS_BEARER.test(authorization ?? "");
  return isInvalid ? `${BEARER}, error="invalid_token", error_description="${descriptionOf(fault)}"` : BEARER;
}

/** Returns the message as an `error_description`: printable ASCII without quotes and backslashes (RFC 6749, RFC 6750). */
export function descriptionOf({ message }: Fault): string {
  return message.replace(/[^\x20-\x7e]|["\\]/g, "'");
}
