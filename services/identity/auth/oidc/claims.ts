import { setCookie } from "../../../../lib/access/session-cookie.ts";
import { toLabel } from "../../../../lib/contract/validator.ts";
import type { Sealed, SecretBox } from "../../../../lib/crypto/secrets.ts";
import { DAY_MS } from "../../../../lib/time.ts";
import type { Profile } from "../../users/identities.ts";
import type { Role } from "../../users/users.contract.ts";
import { OIDC_COOKIE } from "../auth.contract.ts";

export type Claims = Readonly<Record<string, unknown>>;

const LONGEST_EMAIL = 254;
const LONGEST_NAME = 200;
const ANYBODY = "*";

/** Combines the claims of the ID token with those of the user info, which do not replace them. */
export function combine(idToken: Claims, userInfo: Claims): Claims {
  // Whether an address is verified is told by the source of the address.
  const { email_verified, ...rest } = "email" in idToken ? userInfo : idToken;
  return "email" in idToken ? { ...rest, ...idToken } : { ...userInfo, ...rest };
}

export function readProfile(claims: Claims): Profile {
  const email = readText(claims.email);
  const name = readText(claims.name) ?? readText(claims.preferred_username);
  const isAddress = email !== null && email.length <= LONGEST_EMAIL && /^[^\s@]+@[^\s@]+$/.test(email);
  return {
    subject: claims.sub as string,
    email: isAddress ? email : null,
    // Some providers send text.
    is_email_verified: claims.email_verified === true || claims.email_verified === "true",
    name: name === null ? null : toLabel(name.slice(0, LONGEST_NAME)).toWellFormed(),
  };
}

/**
 * Returns the role that a mapping (`OIDC_ROLES`) gives to the values of a claim, the higher one of several; null for
 * none. The claim is a name, or a path such as `realm_access.roles`.
 */
export function mapRole(claims: Claims, claim: string, mapping: readonly string[]): Role | null {
  const found = valueAt(claims, claim);
  const values = new Set([ANYBODY, ...[found].flat().filter((value) => typeof value === "string")]);
  const roles = mapping.map((entry) => {
    const at = entry.lastIndexOf("=");
    return values.has(entry.slice(0, at)) ? (entry.slice(at + 1) as Role) : null;
  });
  return roles.includes("admin") ? "admin" : roles.includes("member") ? "member" : null;
}

/**
 * Returns why a claim gave no role, for the audit log: it is `absent`, the provider says that it is `elsewhere` (too many
 * groups for a token), it is `not_text`, or its values are `unmapped`. Values are not quoted.
 */
export function claimWithoutRole(
  claims: Claims,
  claim: string,
): "absent" | "elsewhere" | "not_text" | "unmapped" {
  const value = valueAt(claims, claim);
  const elsewhere = claims._claim_names;
  if (value === undefined || value === null) {
    const isElsewhere =
      typeof elsewhere === "object" && elsewhere !== null && Object.hasOwn(elsewhere, claim);
    return isElsewhere ? "elsewhere" : "absent";
  }
  return [value].flat().every((each) => typeof each === "string") ? "unmapped" : "not_text";
}

/** Names of claims may contain dots (`https://example.com/roles`): a name wins over a path, in which `\\.` is a dot. */
function valueAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  const path = claim.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
  return path.reduce<unknown>((value, key) => {
    const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, key);
    return isObject ? (value as Claims)[key] : undefined;
  }, claims);
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

const SIGN_IN_MS = 10 * 60_000;
/** Browsers refuse cookies of more than 4,096 bytes. */
const LONGEST_VALUE = 3_800;

/** A sign-in in progress: what the provider's answer must fit. */
export interface Attempt {
  kind: "attempt";
  state: string;
  nonce: string;
  verifier: string;
}

/** A finished one: what the provider needs to sign the person out there too. */
interface Done {
  kind: "done";
  /** Null if it is too long for a cookie. */
  id_token: string | null;
}

type Content = Attempt | Done;

/** Encrypts and reads the cookie. */
export class OidcCookie {
  readonly #secrets: SecretBox;
  readonly #publicUrl: string | null;

  constructor(secrets: SecretBox, publicUrl: string | null) {
    this.#secrets = secrets;
    this.#publicUrl = publicUrl;
  }

  /** Returns the Set-Cookie with a content; null removes it. */
  set(content: Content | null, now: number): string {
    const ends_at = now + (content?.kind === "attempt" ? SIGN_IN_MS : DAY_MS);
    const value = content ? this.#seal({ ...content, ends_at }) : "";
    const expires = new Date(content ? ends_at : 0).toUTCString();
    return setCookie(OIDC_COOKIE, value, `Expires=${expires}`, this.#publicUrl);
  }

  /** Returns the content of a request's cookie; null if it is missing, altered, expired or of another kind. */
  read<K extends Content["kind"]>(
    value: string | undefined,
    kind: K,
    now: number,
  ): Extract<Content, { kind: K }> | null {
    if (value === undefined) return null;
    try {
      const content = JSON.parse(this.#secrets.open(value as Sealed, OIDC_COOKIE)) as Content & {
        ends_at: number;
      };
      return content.kind === kind && content.ends_at > now ? (content as never) : null;
    } catch {
      // Only the cookie can be wrong here.
      return null;
    }
  }

  #seal(content: Content & { ends_at: number }): string {
    const value = this.#secrets.seal(JSON.stringify(content), OIDC_COOKIE);
    if (value.length <= LONGEST_VALUE) return value;
    return this.#secrets.seal(JSON.stringify({ ...content, id_token: null }), OIDC_COOKIE);
  }
}
