import { type Caller, isAdmin } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";

/** Returns the agent whose dead letters a caller may see; null for an admin, who sees all of the tenant's. */
export function visibleAgent(caller: Caller): string | null {
  if (isAdmin(caller)) return null;
  if (caller.kind === "agent") return caller.agent_id;
  throw new Fault("forbidden", "Only its agent and admins can read a dead letter. Ask one of them.");
}
