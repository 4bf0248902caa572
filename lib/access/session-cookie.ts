import type { SecretBox } from "../crypto/secrets.ts";

/** Whether callers come over https, as `PUBLIC_URL` says: then a cookie is only sent so. */
const isSecure = (publicUrl: string | null) => publicUrl?.startsWith("https:") ?? false;

/** With `__Host-` no other host, nor a page over http, can set it (RFC 6265bis). */
export const cookieName = (name: string, publicUrl: string | null) =>
  isSecure(publicUrl) ? `__Host-${name}` : name;
const nameOf = (publicUrl: string | null) => cookieName("afferent_session", publicUrl);

/** What every cookie of ours has: no script reads it, and no other site's page sends it. */
export function cookieAttributes(publicUrl: string | null): string[] {
  return ["HttpOnly", "SameSite=Strict", ...(isSecure(publicUrl) ? ["Secure"] : [])];
}

/** The value of a cookie in a Cookie header; null without it. */
export function cookieValue(header: string | undefined, name: string): string | null {
  if (!header) return null;
  const begin = `${name}=`;
  const own = header.split(/; */).find((each) => each.startsWith(begin));
  return own?.slice(begin.length) || null;
}

/** The Set-Cookie of a browser's session; null ends it. @param expires_at of the token, ISO 8601 */
export function sessionCookie(
  token: { access_token: string; expires_at: string } | null,
  publicUrl: string | null,
): string {
  const expires = token ? new Date(token.expires_at) : new Date(0);
  const attributes = ["Path=/", `Expires=${expires.toUTCString()}`, ...cookieAttributes(publicUrl)];
  return [`${nameOf(publicUrl)}=${token?.access_token ?? ""}`, ...attributes].join("; ");
}

/** The token in a Cookie header; null without one. */
export function sessionToken(header: string | undefined, publicUrl: string | null): string | null {
  return cookieValue(header, nameOf(publicUrl));
}

/** What a page of ours proves itself with: nobody derives it from the token's id without this installation's key. */
export function csrfToken(secrets: SecretBox, token_id: string): string {
  return secrets.random(24, "csrf", token_id).toString("base64url");
}
