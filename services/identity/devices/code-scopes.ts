import { type Caller, hasScope, SCOPES, type Scope } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";

const BY_DEFAULT = SCOPES.filter((scope) => scope !== "admin");

/**
 * Returns what the key of a device will be good for: at most what the issuer of its code may do.
 *
 * @throws Fault insufficient_scope when the issuer asks for more than it has.
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
