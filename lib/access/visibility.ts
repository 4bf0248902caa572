import type { Caller } from "./caller.ts";

/** Readers of a resource: its owner, its team or its whole tenant (spec: Memory, scope). It only widens. */
export const MEMORY_SCOPES = ["agent", "team", "institutional"] as const;
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/**
 * The scoped rows of a tenant (memories, outputs, search entries) that a caller may read (api, "Who calls").
 *
 * - An agent: its own, its team's and the institution's.
 * - A member: the same for each agent that the person owns.
 * - An org admin: in addition every team's. Rows of scope `agent` stay private even from admins; an agent's scope
 *   `admin` allows operations and opens no memory.
 */
export interface Access {
  /** The agents whose rows are readable in any scope: itself, or those the person owns. */
  agent_ids: string[];
  /** The teams whose rows of scope `team` are readable. */
  team_ids: string[];
}

/** The part of an agent that decides access. */
export interface Owned {
  id: string;
  team_id: string | null;
}

export function agentAccess({ id, team_id }: Owned): Access {
  return { agent_ids: [id], team_ids: team_id ? [team_id] : [] };
}

/** @param owned the person's agents @param teams every team of the tenant for an org admin, else none */
export function personAccess(owned: readonly Owned[], teams: readonly string[]): Access {
  const theirs = owned.flatMap(({ team_id }) => team_id ?? []);
  return { agent_ids: owned.map(({ id }) => id), team_ids: [...new Set([...theirs, ...teams])] };
}

export interface Scoped {
  scope: MemoryScope;
  agent_id: string | null;
  team_id: string | null;
}

export function mayRead({ agent_ids, team_ids }: Access, { scope, agent_id, team_id }: Scoped): boolean {
  if (scope === "institutional") return true;
  if (agent_id !== null && agent_ids.includes(agent_id)) return true;
  return scope === "team" && team_id !== null && team_ids.includes(team_id);
}

/** The same as a filter for the store. */
export function visibleTo({ agent_ids, team_ids }: Access) {
  return {
    $or: [
      { scope: "institutional" as const },
      ...(team_ids.length ? [{ scope: "team" as const, team_id: { $in: team_ids } }] : []),
      ...(agent_ids.length ? [{ agent_id: { $in: agent_ids } }] : []),
    ],
  };
}

/**
 * Whether every reader of a row by its scope may also read its successor. The row's owner does not count, because it
 * may be in another team.
 */
export function isAtLeastAsVisible(successor: Scoped, { scope, agent_id, team_id }: Scoped): boolean {
  if (successor.scope === "institutional") return true;
  if (successor.scope === "agent") return scope === "agent" && agent_id === successor.agent_id;
  return scope === "agent" || (scope === "team" && team_id === successor.team_id);
}

/** The same as a filter for the rows that a successor may supersede. */
export function coveredBy({ scope, agent_id, team_id }: Scoped): object {
  if (scope === "institutional") return {};
  if (scope === "agent") return { scope: "agent", agent_id };
  return { $or: [{ scope: "agent" }, { scope: "team", team_id }] };
}

/** Whether a caller is an org admin: a person, never an agent (api, "Who calls"). */
export function isOrgAdmin(caller: Caller): boolean {
  return caller.kind === "user" && caller.role === "admin";
}
