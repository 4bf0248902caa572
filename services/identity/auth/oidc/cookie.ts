import { cookieAttributes, cookieName } from "../../../../lib/access/session-cookie.ts";
import type { Sealed, SecretBox } from "../../../../lib/crypto/secrets.ts";
import { OIDC_COOKIE } from "../auth.contract.ts";

const SIGN_IN_MS = 10 * 60_000;
const DAY_MS = 24 * 3600_000;
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
    const attributes = ["Path=/", `Expires=${expires}`, ...cookieAttributes(this.#publicUrl)];
    return [`${cookieName(OIDC_COOKIE, this.#publicUrl)}=${value}`, ...attributes].join("; ");
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
