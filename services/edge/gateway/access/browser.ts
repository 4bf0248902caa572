import type { IncomingMessage } from "node:http";
import type { Caller } from "../../../../lib/access/caller.ts";
import { isCsrfToken, sessionToken } from "../../../../lib/access/session-cookie.ts";
import { Fault } from "../../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../../lib/crypto/secrets.ts";

const HARMLESS = new Set(["GET", "HEAD"]);
/** Requests from our own pages, or from an address that the user typed. */
const OWN_SITES = new Set(["same-origin", "none"]);

/** Returns the Authorization of a request: the header, else the token of the browser's session cookie. */
export function authorizationOf(req: IncomingMessage, publicUrl: string | null): string | undefined {
  const { authorization, cookie } = req.headers;
  if (authorization !== undefined || cookie === undefined) return authorization;
  const token = sessionToken(cookie, publicUrl);
  return token === null ? undefined : `Bearer ${token}`;
}

/**
 * Browsers send the cookie with requests from any page; only ours are allowed. Changes must also carry the session's
 * CSRF token, which other sites cannot read.
 *
 * @throws Fault forbidden
 */
export function requireOwnPage(req: IncomingMessage, caller: Caller, secrets: SecretBox): void {
  if (req.headers.authorization !== undefined) return;
  const site = req.headers["sec-fetch-site"];
  if (site !== undefined && !OWN_SITES.has(site as string))
    throw new Fault(
      "forbidden",
      "A session cookie is accepted only from the console's own pages. Elsewhere, send a bearer token.",
    );
  if (HARMLESS.has(req.method as string)) return;
  if (isCsrfToken(secrets, caller.token_id, String(req.headers["x-csrf-token"] ?? ""))) return;
  throw new Fault(
    "forbidden",
    "The header X-CSRF-Token is missing or wrong: send the value from GET /v1/auth/session.",
  );
}
