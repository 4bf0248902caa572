import { type Access, type MemoryScope, visibleTo } from "../../../lib/access/visibility.ts";
import { containing } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { LargeKeys } from "../../../storage/model.ts";
import type { Where } from "../../../storage/query.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** A clause of a filter. */
export type Clause = Where<MemoryDoc>;

/** Above this many partitions a single query is faster. */
const MOST_PARTITIONS = 16;

/**
 * Returns filters that together match what a caller may read, each row once: an index serves the rows of the
 * institution, of each team and of each owner in order.
 *
 * @param most above this many partitions returns a single filter, which no index serves
 */
export function splitPartitions(
  access: Access,
  scope: MemoryScope | undefined,
  most = MOST_PARTITIONS,
): Clause[] {
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

/** Memories per query: other readers of the store wait meanwhile, 5 to 25 ms if all match. */
const WINDOW = 2_000;
/** Memories per partition that a request examines for a text, newest first. */
const MOST_LOOKED_INTO = 100_000;

/** A range of creation times. */
type Bounds = { $gte?: Date; $lt?: Date };

interface Scan<P> {
  tenant_id: string;
  /** Disjoint filters, each served by an index in order of creation. */
  partitions: Clause[][];
  /** Further conditions. */
  wanted: Clause[];
  /** Only those with it in title or content; "": all. */
  text: string;
  /** The fields to read of matching memories. */
  projection: Partial<Record<Exclude<keyof MemoryDoc, LargeKeys<MemoryDoc>> & string, 1>>;
  /** Selects which of the matches to keep: of those kept so far, and more. */
  keep(kept: P[], more: P[]): P[];
}

/**
 * Returns and counts memories that no index gives in order, or whose title or content contains a text. Only reading
 * finds them, so it reads in small windows, and for a text up to a limit.
 */
export async function scan<P>(
  memories: TenantCollection<MemoryDoc>,
  { tenant_id, partitions, wanted, text, projection, keep }: Scan<P>,
): Promise<{ places: P[]; count: number }> {
  const pattern = text && containing(text);
  const holding = pattern ? { $or: [{ title: pattern }, { content: pattern }] } : {};
  const most = text ? MOST_LOOKED_INTO : Number.POSITIVE_INFINITY;
  let places: P[] = [];
  let count = 0;
  for (const partition of partitions) {
    for await (const range of splitWindows(memories, tenant_id, partition, most)) {
      const filter = joined([...partition, range, ...wanted, holding]);
      const found = (await memories.find(tenant_id, filter, { projection })) as unknown as P[];
      count += found.length;
      places = keep(places, found);
    }
  }
  return { places, count };
}

const EDGE = { sort: { created_at: -1 }, skip: WINDOW - 1, limit: 1, projection: { created_at: 1 } } as const;

/** Yields ranges that split a partition into windows of about this many memories, newest first. */
async function* splitWindows(
  memories: TenantCollection<MemoryDoc>,
  tenant_id: string,
  partition: Clause[],
  most: number,
): AsyncGenerator<Clause> {
  let older: Bounds = {};
  for (let seen = 0; seen < most; seen += WINDOW) {
    const [edge] = await memories.find(tenant_id, joined([...partition, ranged(older)]), EDGE);
    yield ranged({ ...older, ...(edge && { $gte: edge.created_at }) });
    if (!edge) return;
    older = { $lt: edge.created_at };
  }
}

function ranged(bounds: Bounds): Clause {
  return Object.keys(bounds).length > 0 ? { created_at: bounds } : {};
}
