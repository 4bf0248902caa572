import type { SecretBox } from "../crypto/secrets.ts";

const CSRF_BYTES = 24;

/** Whether `PUBLIC_URL` is https; cookies are then sent only over https. */
const isSecure = (publicUrl: string | null) => publicUrl?.startsWith("https:") ?? false;

/** With `__Host-`, neither another host nor a page over http can set it (RFC 6265bis). */
const fullName = (name: string, publicUrl: string | null) => (isSecure(publicUrl) ? `__Host-${name}` : name);
const SESSION = "sensorium_session";

/** Returns a Set-Cookie: scripts cannot read the cookie, and pages of other sites do not send it. */
export function setCookie(name: string, value: string, lifetime: string, publicUrl: string | null): string {
  const secure = isSecure(publicUrl) ? ["Secure"] : [];
  const attributes = ["Path=/", lifetime, "HttpOnly", "SameSite=Strict", ...secure];
  return [`${fullName(name, publicUrl)}=${value}`, ...attributes].join("; ");
}

export function cookieValue(
  header: string | undefined,
  name: string,
  publicUrl: string | null,
): string | null {
  if (!header) return null;
  const begin = `${fullName(name, publicUrl)}=`;
  const own = header.split(/; */).find((each) => each.startsWith(begin));
  return own?.slice(begin.length) || null;
}

/** Returns the Set-Cookie of a browser's session; a null token ends it. @param expires_at of the token, ISO 8601 */
export function sessionCookie(
  token: { access_token: string; expires_at: string } | null,
  publicUrl: string | null,
): string {
  const expires = token ? new Date(token.expires_at) : new Date(0);
  return setCookie(SESSION, token?.access_token ?? "", `Expires=${expires.toUTCString()}`, publicUrl);
}

/** Returns the token in a Cookie header; null without one. */
export function sessionToken(header: string | undefined, publicUrl: string | null): string | null {
  return cookieValue(header, SESSION, publicUrl);
}

/** Returns the token that the console's pages send; deriving it needs this installation's key. */
export function csrfToken(secrets: SecretBox, token_id: string): string {
  return secrets.digest(CSRF_BYTES, "csrf", token_id);
}

/** Whether a page sent its session's CSRF token, by whichever key. */
export function isCsrfToken(secrets: SecretBox, token_id: string, token: string): boolean {
  return secrets.isDigest(token, CSRF_BYTES, "csrf", token_id);
}
