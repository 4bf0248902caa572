import type { Caller } from "./caller.ts";

/** Who may read a thing: its owner, its team, all of its tenant (spec: Memory, scope). It only ever widens. */
export const MEMORY_SCOPES = ["agent", "team", "institutional"] as const;
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/**
 * What of a tenant's scoped rows (memories, outputs, what search knows) a caller may read (api: Who calls).
 *
 * - An agent: what it owns, its team's, the institution's.
 * - A member: the same of the agents that the person owns.
 * - An org admin: that, and every team's. What another's agent keeps to itself is not even an admin's to read; the
 *   scope `admin` of an agent is good for operations, and opens no memory.
 */
export interface Access {
  /** The calling agent; null for a person. */
  agent_id: string | null;
  /** The agents whose rows are readable whatever their scope: itself, or those the person owns. */
  agent_ids: string[];
  /** The teams whose rows of scope `team` are readable. */
  team_ids: string[];
}

/** An agent, as far as it decides what is readable. */
export interface Owned {
  id: string;
  team_id: string | null;
}

/** What an agent may read. */
export function agentAccess({ id, team_id }: Owned): Access {
  return { agent_id: id, agent_ids: [id], team_ids: team_id ? [team_id] : [] };
}

/**
 * What a person may read.
 *
 * @param owned the agents that the person owns
 * @param teams every team of the tenant for an org admin, else none
 */
export function personAccess(owned: readonly Owned[], teams: readonly string[]): Access {
  const theirs = owned.flatMap(({ team_id }) => team_id ?? []);
  return {
    agent_id: null,
    agent_ids: owned.map(({ id }) => id),
    team_ids: [...new Set([...theirs, ...teams])],
  };
}

/** A row that has an owner and a scope. */
export interface Scoped {
  scope: MemoryScope;
  agent_id: string | null;
  team_id: string | null;
}

/** Whether a caller may read a row, as `Access` says. */
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
 * Whether everybody who reads a row by its scope also reads its successor. The row's owner, who may be of another team,
 * is not among them.
 */
export function isAtLeastAsVisible(successor: Scoped, { scope, agent_id, team_id }: Scoped): boolean {
  if (successor.scope === "institutional") return true;
  if (successor.scope === "agent") return scope === "agent" && agent_id === successor.agent_id;
  return scope === "agent" || (scope === "team" && team_id === successor.team_id);
}

/** The same as a filter for the rows that a successor may replace. */
export function coveredBy({ scope, agent_id, team_id }: Scoped): object {
  if (scope === "institutional") return {};
  if (scope === "agent") return { scope: "agent", agent_id };
  return { $or: [{ scope: "agent" }, { scope: "team", team_id }] };
}

/** Whether a caller is the organisation's admin: a person, never an agent (api: Who calls). */
export function isOrgAdmin(caller: Caller): boolean {
  return caller.kind === "user" && caller.role === "admin";
}
