import type { Access, MemoryScope } from "../../../lib/access/visibility.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { Where } from "../../../storage/query.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** A part of a filter. */
export type Clause = Where<MemoryDoc>;

/** Beyond so many, one query for all of them is the better one. */
const MOST_LANES = 16;

/**
 * Filters that together hold what a caller may read, each row once: what the institution, each team and each owner
 * has stands in order in an index by itself.
 *
 * @param most beyond so many lanes it is one, which no index holds
 */
export function lanesOf(access: Access, scope: MemoryScope | undefined, most = MOST_LANES): Clause[] {
  const { agent_ids, team_ids } = access;
  if (agent_ids.length + team_ids.length >= most) return [{ ...visibleTo(access), ...(scope && { scope }) }];
  const asked = (...scopes: MemoryScope[]) => scope === undefined || scopes.includes(scope);
  const institution = asked("institutional") ? [{ scope: "institutional" as const, team_id: null }] : [];
  const teams = asked("team") ? team_ids.map((team_id) => ({ scope: "team" as const, team_id })) : [];
  const kept = [
    ...(asked("agent") ? [{ scope: "agent" as const }] : []),
    ...(asked("team") ? [{ scope: "team" as const, team_id: { $nin: team_ids } }] : []),
  ];
  const owned = kept.length ? agent_ids.map((agent_id) => ({ agent_id, $or: kept })) : [];
  return [...institution, ...teams, ...owned];
}

/** One filter of several. What can stand side by side does: an index over several fields is found only that way. */
export function joined(clauses: Clause[]): Clause {
  const fields = Object.assign({}, ...clauses);
  delete fields.$or;
  const choices = clauses.flatMap(({ $or }) => ($or ? { $or } : []));
  return choices.length ? { ...fields, $and: choices } : fields;
}
