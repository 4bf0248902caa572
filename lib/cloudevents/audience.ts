import type { Owned, Scoped } from "../access/visibility.ts";
import type { CloudEvent } from "./cloudevents.ts";
import { isPlatformType } from "./platform-types.ts";

/**
 * Returns the audience of an event about a scoped row (api: Processes), an extension attribute of its envelope: ids of
 * agents and teams, separated by spaces; undefined for the whole tenant.
 */
export function audienceOf({ scope, agent_id, team_id }: Scoped): string | undefined {
  if (scope === "institutional") return undefined;
  const team = scope === "team" ? team_id : null;
  return [agent_id, team].filter((id) => id !== null).join(" ") || "nobody";
}

/** Returns the ids in an event's audience, null for everybody. Only the service's own events have an audience. */
export function audienceIn(event: Pick<CloudEvent, "type"> & { audience?: unknown }): Set<string> | null {
  if (!isPlatformType(event.type) || typeof event.audience !== "string") return null;
  return new Set(event.audience.split(" "));
}

export function isFor(event: Pick<CloudEvent, "type">, agents: readonly Owned[]): boolean {
  const audience = audienceIn(event);
  return audience === null || agents.some((agent) => isIn(audience, agent));
}

export function isIn(audience: ReadonlySet<string>, { id, team_id }: Owned): boolean {
  return audience.has(id) || (team_id !== null && audience.has(team_id));
}
