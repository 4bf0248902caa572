import type { IncomingMessage } from "node:http";
import { type Caller, hasScope } from "../../../../lib/access/caller.ts";
import { isCsrfToken, sessionToken } from "../../../../lib/access/session-cookie.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { Fault, type FaultCode } from "../../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../../lib/crypto/secrets.ts";
import { AGENT_IDENTITY_REQUIRED } from "./challenge.ts";

const WRONG_KIND: Record<string, string> = {
  agent: "This operation needs an agent's token, from POST /v1/auth/token.",
  user: "This operation is for people: sign in with POST /v1/auth/login.",
  org_admin: "This operation needs a user with the role admin: ask an admin of the organisation.",
};

/** Checks whether a caller may use an operation under its contract; throws the fault that says why not. */
export function requireAccess(op: Operation, caller: Caller): void {
  const { access } = op;
  if (access.by === "public" || access.by === "operator" || access.by === "monitor") return;
  if (!isKind(access.by, caller)) {
    const code: FaultCode = (access.by === "agent" && access.otherwise) || "forbidden";
    // The token is valid: a client that treats this 401 as its expiry would sign out, or refresh it forever.
    if (code === "authentication_failed")
      throw new Fault(
        code,
        "Your token is valid, but belongs to a person. This operation needs an agent's token, from POST /v1/auth/token.",
        { reason: AGENT_IDENTITY_REQUIRED },
      );
    const details = code === "validation_error" ? { field: "authorization" } : {};
    throw new Fault(code, WRONG_KIND[access.by] as string, details);
  }
  if (op.outlives && caller.kind === "agent" && caller.approved_by !== undefined)
    throw new Fault(
      "forbidden",
      "A connection that a person has approved cannot create credentials, which would outlive the approval: sign in as a " +
        "person, or use an API key.",
    );
  if (access.scope && !hasScope(caller, access.scope) && !op.scopeRefusal) {
    throw new Fault(
      "insufficient_scope",
      `This operation needs the scope ${access.scope}: use a key that has it.`,
      {
        required_scope: access.scope,
      },
    );
  }
}

/** Whether a caller lacks the scope of an operation that reports this in its answer instead of an error. */
export function isRefusedInBand({ access, scopeRefusal }: Operation, caller: Caller): boolean {
  if (!scopeRefusal) return false;
  return "scope" in access && access.scope !== undefined && !hasScope(caller, access.scope);
}

function isKind(by: "any" | "agent" | "user" | "org_admin", caller: Caller): boolean {
  if (by === "any") return true;
  if (by === "agent") return caller.kind === "agent";
  return caller.kind === "user" && (by === "user" || caller.role === "admin");
}

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
