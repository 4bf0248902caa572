import type { Owned, Scoped } from "../access/visibility.ts";
import type { CloudEvent } from "./cloudevents.ts";
import { isPlatformType } from "./platform-types.ts";

/**
 * Who alone may get an event that is about a scoped row (api: Processes), as an extension attribute of its envelope:
 * the ids of agents and teams, with spaces between them. Undefined: all of the tenant.
 */
export function audienceOf({ scope, agent_id, team_id }: Scoped): string | undefined {
  if (scope === "institutional") return undefined;
  const team = scope === "team" ? team_id : null;
  return [agent_id, team].filter((id) => id !== null).join(" ") || "nobody";
}

/** The ids that an event is for, or null when it is for everybody. Only the service's own events can be so bound. */
export function audienceIn(event: Pick<CloudEvent, "type"> & { audience?: unknown }): Set<string> | null {
  if (!isPlatformType(event.type) || typeof event.audience !== "string") return null;
  return new Set(event.audience.split(" "));
}

/** Whether an agent is one of those that an event is for. */
export function isIn(audience: ReadonlySet<string>, { id, team_id }: Owned): boolean {
  return audience.has(id) || (team_id !== null && audience.has(team_id));
}
