import type { Call } from "../../../lib/access/caller.ts";
import type { Scoped } from "../../../lib/access/visibility.ts";
import { Fault, ruleBroken } from "../../../lib/contract/faults.ts";
import type { Found } from "./parts.ts";
import { isReadByAllReaders } from "./readers.ts";
import { mayManage } from "./rows.ts";

/**
 * Refuses a successor that would hide other users' memories.
 *
 * @throws Fault forbidden unless the caller owns the memory or is an org admin; business_rule_violation if a reader of
 * the memory could not read its successor
 */
export async function requireReplaceable(ctx: Call, { doc, access }: Found, successor: Scoped) {
  if (!mayManage(ctx.meta.caller, access, doc)) {
    throw new Fault("forbidden", "Only its owner or an org admin may replace a memory.");
  }
  if (!(await isReadByAllReaders(ctx, doc, successor))) throw lessVisible(doc, successor);
}

export function lessVisible(doc: Scoped, successor: Scoped): Fault {
  const message =
    `A successor must be at least as visible as the memory it replaces: ${shown(successor)} does not cover ` +
    `${shown(doc)}. Promote the successor first.`;
  return ruleBroken("scope_only_widens", message);
}

function shown({ scope, team_id }: Scoped): string {
  return scope === "team" ? `scope team (${team_id})` : `scope ${scope}`;
}
