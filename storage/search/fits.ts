import { metadataCheck } from "../../lib/filter/metadata.ts";
import { held, type SearchWhere, TIMES, type wholeEntry } from "./entry.ts";

type Fits = (entry: Omit<ReturnType<typeof wholeEntry>, "kind" | "removed" | "title" | "text">) => boolean;

/** Returns the conditions of a search's filters: an entry fits if it meets each. */
export function conditionsOf(where: SearchWhere): Fits[] {
  const {
    types,
    scope,
    project_id,
    agent_id,
    tags_any = [],
    audience = [],
    except = {},
    metadata = [],
  } = where;
  const { held: time, times = {} } = where;
  const conditions: Fits[] = [];
  if (types) conditions.push((entry) => types.includes(entry.type as string));
  if (except.types) conditions.push((entry) => !except.types?.includes(entry.type as string));
  if (project_id !== undefined) conditions.push((entry) => entry.project_id === project_id);
  if (except.project_ids)
    conditions.push((entry) => !except.project_ids?.includes(entry.project_id as string));
  if (agent_id !== undefined) conditions.push((entry) => entry.agent_id === agent_id);
  if (scope) conditions.push((entry) => entry.scope === scope);
  if (tags_any.length > 0) conditions.push(({ tags }) => tags_any.some((tag) => tags.includes(tag)));
  for (const name of TIMES) {
    const { since = -Infinity, until = Infinity } = times[name] ?? {};
    if (since === -Infinity && until === Infinity) continue;
    conditions.push(({ [name]: at }) => at !== null && at >= since && at < until);
  }
  if (time) {
    const then = new Set(time.corrected?.held);
    const corrected = then.union(new Set(time.corrected?.not));
    conditions.push(({ id, validity, created_at }) =>
      corrected.has(id) ? then.has(id) : held(validity, created_at, time),
    );
  }
  for (const labels of audience)
    conditions.push((entry) => labels.some((label) => entry.audience.includes(label)));
  if (metadata.length > 0) {
    const fits = metadataCheck(metadata);
    conditions.push((entry) => fits(entry.metadata));
  }
  return conditions;
}
