import { type Access, type MemoryScope, visibleTo } from "../../../lib/access/visibility.ts";
import { type MetadataCondition, metadataCheck, packMetadata } from "../../../lib/filter/metadata.ts";
import { containing, literal } from "../../../lib/text/containing.ts";
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

/**
 * Combines clauses into one filter, flat where possible: only flat conditions use a compound index. All hold, also of
 * several for one field: none can replace that of a partition.
 */
export function joined(clauses: Clause[]): Clause {
  const fields: Record<string, unknown> = {};
  const others: Clause[] = [];
  for (const [name, condition] of clauses.flatMap((clause) => Object.entries(clause)))
    if (name.startsWith("$") || name in fields) others.push({ [name]: condition } as Clause);
    else fields[name] = condition;
  return (others.length ? { ...fields, $and: others } : fields) as Clause;
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
  /** Conditions on metadata. */
  metadata: MetadataCondition[];
  /** The fields to read of matching memories. */
  projection: Partial<Record<Exclude<keyof MemoryDoc, LargeKeys<MemoryDoc>> & string, 1>>;
  /** Selects which of the matches to keep: of those kept so far, and more. */
  keep(kept: P[], more: P[]): P[];
}

/**
 * Returns and counts memories that no index gives in order, or whose title or content contains a text, or by metadata.
 * Only reading finds them, so it reads in small windows, and for a text or metadata up to a limit.
 */
export async function scan<P>(
  memories: TenantCollection<MemoryDoc>,
  { tenant_id, partitions, wanted, text, metadata, projection, keep }: Scan<P>,
): Promise<{ places: P[]; count: number }> {
  const pattern = text && containing(text);
  const holding = pattern ? { $or: [{ title: pattern }, { content: pattern }] } : {};
  const likely = metadata.map(mayHave);
  const most = text || metadata.length > 0 ? MOST_LOOKED_INTO : Number.POSITIVE_INFINITY;
  let places: P[] = [];
  let count = 0;
  for (const partition of partitions) {
    for await (const range of splitWindows(memories, tenant_id, partition, most)) {
      const filter = joined([...partition, range, ...wanted, holding, ...likely]);
      const rows = await memories.find(tenant_id, filter, { projection });
      const found = (await withMetadata(memories, tenant_id, rows, metadata)) as unknown as P[];
      count += found.length;
      places = keep(places, found);
    }
  }
  return { places, count };
}

/** Returns a filter that finds all memories that may meet a condition on metadata, and few others. */
function mayHave(condition: MetadataCondition): Clause {
  const key = { metadata: { $regex: literal(`${JSON.stringify(condition.key)}:`) } };
  if (!("in" in condition)) return key;
  const values = condition.in.map((value) => literal(JSON.stringify(value)));
  return { $and: [key, { metadata: { $regex: values.join("|") } }] };
}

/** Returns those of some rows that meet conditions on their metadata. */
async function withMetadata(
  memories: TenantCollection<MemoryDoc>,
  tenant_id: string,
  rows: MemoryDoc[],
  conditions: MetadataCondition[],
): Promise<MemoryDoc[]> {
  if (conditions.length === 0 || rows.length === 0) return rows;
  const fits = metadataCheck(conditions);
  const fitting = new Set<string>();
  const those = { _id: { $in: rows.map(({ _id }) => _id) } };
  const options = { sort: { _id: 1 as const }, projection: { metadata: 1 } };
  for await (const batch of memories.batches(tenant_id, those, options))
    for (const { _id, metadata } of batch) if (fits(packMetadata(JSON.parse(metadata)))) fitting.add(_id);
  return rows.filter(({ _id }) => fitting.has(_id));
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
