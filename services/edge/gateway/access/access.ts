import { type Caller, hasScope } from "../../../../lib/access/caller.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { Fault, type FaultCode } from "../../../../lib/contract/faults.ts";
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
