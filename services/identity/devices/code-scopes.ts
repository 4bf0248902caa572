import { type Caller, hasScope, SCOPES, type Scope } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";

const BY_DEFAULT = SCOPES.filter((scope) => scope !== "admin");

/**
 * Returns the scopes of a device's key: at most those of the issuer of its code.
 *
 * @throws Fault insufficient_scope if the issuer requests more than it has.
 */
export function scopesToIssue(issuer: Caller, asked: readonly Scope[] | undefined): readonly Scope[] {
  if (!asked) return BY_DEFAULT.filter((scope) => hasScope(issuer, scope));
  const missing = asked.find((scope) => !hasScope(issuer, scope));
  if (missing === undefined) return asked;
  throw new Fault(
    "insufficient_scope",
    `A code carries at most the scopes of its issuer, which lacks ${missing}.`,
    { required_scope: missing },
  );
}
