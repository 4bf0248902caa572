import jwt from "jsonwebtoken";
import { type Caller, type Scope, scopesForRole, type UserCaller } from "../../../lib/access/caller.ts";
import { plainOrigin } from "../../../lib/http/origin.ts";
import { newId } from "../../../lib/ids.ts";
import { ALGORITHM, type SigningKeys } from "./signing-keys.ts";

const AUDIENCE = "sensorium";
const RECEIPT_AUDIENCE = "sensorium-receipt";
const TOKEN_SECONDS = 60 * 60;
export const LONGEST_SESSION_SECONDS = 12 * 3600;

/** The content of a token, in addition to the standard claims of a JWT. */
export type Subject = (
  | {
      tenant_id: string;
      agent_id: string;
      key_id: string;
      token_version: number;
      scopes: readonly Scope[];
      key_expires_at: number | null;
      /** The resource that the token is for (RFC 8707); absent for the whole service. */
      resource?: string;
    }
  | {
      tenant_id: string;
      user_id: string;
      role: UserCaller["role"];
      token_version: number;
      /** The sign-in that this continues; absent for a new one. */
      session_id?: string;
      /** When the password was given, in seconds; defaults to now, set when a session is renewed. */
      auth_time?: number;
    }
) & {
  /** The tenant's version, raised by suspension; 0 by default. */
  tenant_version?: number;
};

/** The answer to a sign-in (api: Authentication). */
export interface Token {
  access_token: string;
  token_type: "Bearer";
  expires_at: string;
}

/** Resources of a service without `PUBLIC_URL`, which clients reach by several names of this machine. */
const LOCAL_RESOURCE = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/(v1\/)?mcp)?$/;
const IS_MCP = /\/mcp$/;

/** Issues and verifies the installation's access tokens. */
export class Tokens {
  readonly #keys: Pick<SigningKeys, "signer" | "verifier">;
  readonly #issuer: string;
  readonly #audience: [string, ...(string | RegExp)[]];

  constructor(keys: Pick<SigningKeys, "signer" | "verifier">, publicUrl: string | null) {
    this.#keys = keys;
    this.#issuer = publicUrl ?? "sensorium";
    const origin = publicUrl && plainOrigin(publicUrl);
    const resources = origin ? [origin, `${origin}/mcp`, `${origin}/v1/mcp`] : [LOCAL_RESOURCE];
    this.#audience = [AUDIENCE, ...resources];
  }

  issue(subject: Subject, now: number): Token {
    const iat = Math.floor(now / 1000);
    const keyEnd = "agent_id" in subject ? subject.key_expires_at : null;
    // Rounded up: a key in its last second still issues a valid token, which ends with the key.
    const exp = Math.min(iat + TOKEN_SECONDS, Math.ceil((keyEnd ?? Number.POSITIVE_INFINITY) / 1000));
    const aud = ("agent_id" in subject && subject.resource) || AUDIENCE;
    const { tenant_version } = subject;
    const version = tenant_version ? { tenant_version } : {};
    const claims = { ...toClaims(subject, iat), ...version, aud, iat, exp, jti: newId("jti") };
    const expires_at = new Date(exp * 1000).toISOString();
    return { access_token: this.#sign(claims, now), token_type: "Bearer", expires_at };
  }

  /** Returns the caller of a token, or null if it is not ours or has `expired`. Does not check later changes. */
  read(token: string, now: number, expired: "refused" | "read" = "refused"): Caller | null {
    try {
      const key = this.#keys.verifier(keyIdOf(token), now);
      if (!key) return null;
      const claims = jwt.verify(token, key.publicKey, {
        algorithms: [ALGORITHM],
        issuer: this.#issuer,
        audience: this.#audience,
        clockTimestamp: Math.floor(now / 1000),
        ignoreExpiration: expired === "read",
      });
      return { ...toCaller(claims as jwt.JwtPayload), signed_by: key.jwk.kid };
    } catch {
      // Only the token can be wrong here; jsonwebtoken throws a TypeError for some malformed ones.
      return null;
    }
  }

  /** Signs a statement that anyone can verify with the JWKS; it is not an access token. */
  receipt(claims: object, now: number): string {
    return this.#sign(
      { ...claims, aud: RECEIPT_AUDIENCE, iat: Math.floor(now / 1000), jti: newId("jti") },
      now,
    );
  }

  #sign(claims: object, now: number): string {
    const { jwk, privateKey } = this.#keys.signer(now);
    const options = { algorithm: ALGORITHM, keyid: jwk.kid, issuer: this.#issuer } as const;
    return jwt.sign(claims, privateKey, options);
  }
}

/** Returns the id of the key that a token names, which may not have signed it. */
export function keyIdOf(token: string): string | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header.kid;
  } catch {
    // Of a malformed token.
    return undefined;
  }
}

/** Returns when the last token that can derive from a caller's sign-in expires, in milliseconds since the epoch. */
export function lastExpiry(caller: Caller): number {
  if (caller.kind === "agent") return caller.expires_at;
  const renewed = ((caller.auth_time ?? 0) + LONGEST_SESSION_SECONDS + TOKEN_SECONDS) * 1000;
  return Math.max(caller.expires_at, renewed);
}

function toClaims(subject: Subject, iat: number): object {
  if ("agent_id" in subject) {
    const { tenant_id, agent_id, key_id, token_version, scopes } = subject;
    return { sub: agent_id, tenant_id, agent_id, key_id, scopes, token_version };
  }
  const { tenant_id, user_id, role, token_version } = subject;
  const { session_id: sid = newId("sid"), auth_time = iat } = subject;
  return {
    sub: user_id,
    tenant_id,
    user_id,
    role,
    scopes: scopesForRole(role),
    token_version,
    sid,
    auth_time,
  };
}

function toCaller(claims: jwt.JwtPayload): Caller {
  const { tenant_id, scopes, agent_id, key_id, user_id, role, auth_time, sid: session_id, jti } = claims;
  const { token_version, tenant_version = 0 } = claims;
  const expires_at = (claims.exp as number) * 1000;
  const only = IS_MCP.test(String(claims.aud)) && { only: "mcp" as const };
  const identity = { tenant_id, scopes, token_id: jti as string, expires_at, tenant_version, ...only };
  if (agent_id) return { kind: "agent", ...identity, agent_id, team_id: null, key_id, token_version };
  return { kind: "user", ...identity, user_id, role, token_version, session_id, auth_time };
}
