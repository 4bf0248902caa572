import type { Access, MemoryScope } from "../../../lib/access/visibility.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { Where } from "../../../storage/query.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** A clause of a filter. */
export type Clause = Where<MemoryDoc>;

/** Above this many lanes a single query is faster. */
const MOST_LANES = 16;

/**
 * Returns filters that together match what a caller may read, each row once: an index serves the rows of the
 * institution, of each team and of each owner in order.
 *
 * @param most above this many lanes returns a single filter, which no index serves
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

/** Combines clauses into one filter, flat where possible: only flat conditions use a compound index. */
export function joined(clauses: Clause[]): Clause {
  const fields = Object.assign({}, ...clauses);
  delete fields.$or;
  const choices = clauses.flatMap(({ $or }) => ($or ? { $or } : []));
  return choices.length ? { ...fields, $and: choices } : fields;
}
