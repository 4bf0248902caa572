import type { Call } from "../../../lib/access/caller.ts";
import { type Access, type MemoryScope, visibleTo } from "../../../lib/access/visibility.ts";
import { upToSize } from "../../../lib/broker/between-nodes.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { afterPlace, fromCursor, type Order as OrderBy, toCursor } from "../../../lib/contract/cursor.ts";
import { tagsOfQuery } from "../../../lib/contract/tags.ts";
import { type MetadataCondition, metadataCheck, packMetadata } from "../../../lib/filter/metadata.ts";
import { compareTexts, titleKey } from "../../../lib/text/code-points.ts";
import { containing, literal } from "../../../lib/text/containing.ts";
import { inNamespace } from "../../../lib/text/namespace.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import type { HeldAt } from "../../../storage/search/entry.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import { readConditions, toClause } from "./filters.ts";
import type { MemorySort, MemoryStatus, listMemories as operation } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import { heldClauses } from "./validity.ts";

type Params = ParamsOf<typeof operation>;
/** The fields of a row that determine its position in the order. */
type ListPosition = Pick<MemoryDoc, "_id" | MemorySort>;

type Order = OrderBy<MemorySort>;

/**
 * Returns a page of readable memories with their total. Indexes hold the rows of the institution, each team and each
 * owner in order. The page is merged from these partitions, so that its cost does not depend on unreadable rows.
 */
export async function listMemories(memories: Memories, ctx: Call<Params>) {
  const { tenant_id } = ctx.meta.caller;
  const { params } = ctx;
  const access = await callerAccess(ctx);
  const { offset = 0, limit = 50, sort: by = "created_at", order: direction = "desc", cursor } = params;
  const order: Order = { by, sign: direction === "asc" ? 1 : -1 };
  const after = cursor === undefined ? undefined : parsePlace(cursor, by);
  const query = {
    ...{ memories: memories.rows, tenant_id, access, params, now: memories.now() },
    past: await memories.heldAt(tenant_id, params),
    ...{ order, after, most: offset + limit + 1 },
  };
  const { places, count } = await (params.search || params.metadata !== undefined || by === "title"
    ? placesByReading(query)
    : placesInOrder(query));
  const ids = places.slice(offset, offset + limit).map(({ _id }) => _id);
  // Limited to the size of one answer.
  const rows = await memories.rows.findEach(tenant_id, ids);
  const last = places.length > offset + rows.length ? rows.at(-1) : undefined;
  return {
    memories: await memories.presentAll(ctx, rows, access),
    total: count,
    next_cursor: last ? toCursor(by, { value: last[by], id: last._id }) : null,
  };
}

interface ListQuery {
  memories: TenantCollection<MemoryDoc>;
  tenant_id: string;
  access: Access;
  params: Params;
  now: Date;
  past: HeldAt | undefined;
  order: Order;
  /** The last position of the previous page. */
  after: ListPosition | undefined;
  /** The number of positions wanted after it. */
  most: number;
}

/** The first positions in the order, and the total. */
interface Places {
  places: ListPosition[];
  count: number;
}

/** Merges partitions that an index returns in order. */
async function placesInOrder(query: ListQuery): Promise<Places> {
  const { memories, tenant_id, params, order, after, most } = query;
  const wanted = [statusOf(params), ...buildClauses(query)];
  const beyond = after ? [afterPlace({ value: after[order.by], id: after._id }, order)] : [];
  const options = {
    sort: { [order.by]: order.sign, _id: order.sign },
    limit: most,
    projection: { [order.by]: 1 as const },
  };
  const inPartition = async (partition: Clause): Promise<Places> => {
    const clauses = [partition, ...wanted];
    const [places, count] = await Promise.all([
      memories.find(tenant_id, joined([...clauses, ...beyond]), options),
      memories.count(tenant_id, joined(clauses)),
    ]);
    return { places, count };
  };
  const parts = await Promise.all(splitPartitions(query.access, params.scope).map(inPartition));
  return {
    places: parts.flatMap(({ places }) => places).sort((a, b) => compare(a, b, order)),
    count: parts.reduce((sum, { count }) => sum + count, 0),
  };
}

/**
 * Reads rows, to find a text or metadata, or to sort by title: the stores compare texts with their case. It reads in small
 * windows, and for a text or metadata up to a limit.
 */
async function placesByReading(query: ListQuery): Promise<Places> {
  const { memories, tenant_id, params, order, most } = query;
  const after = query.after && withTitleKey(query.after);
  const statuses = includesSuperseded(params) ? IN_FORCE_OR_REPLACED : ["active" as const];
  const pattern = params.search ? containing(params.search) : null;
  const metadata = params.metadata === undefined ? [] : readConditions(params.metadata);
  const wanted = [
    ...buildClauses(query),
    pattern ? { $or: [{ title: pattern }, { content: pattern }] } : {},
    ...metadata.map(mayHave),
  ];
  const mostRead = pattern || metadata.length > 0 ? MOST_LOOKED_INTO : Number.POSITIVE_INFINITY;
  const projection = { [order.by]: 1 as const };
  let places: ListPosition[] = [];
  let count = 0;
  for (const readers of splitPartitions(query.access, params.scope, Number.POSITIVE_INFINITY))
    for (const status of statuses) {
      const partition = [readers, { status }];
      for await (const range of splitWindows(memories, tenant_id, partition, mostRead)) {
        const rows = await memories.find(tenant_id, joined([...partition, range, ...wanted]), { projection });
        const page = (await withMetadata(memories, tenant_id, rows, metadata)).map(withTitleKey);
        count += page.length;
        const beyond = after ? page.filter((place) => compare(place, after, order) > 0) : page;
        places = [...places, ...beyond].sort((a, b) => compare(a, b, order)).slice(0, most);
      }
    }
  return { places, count };
}

function withTitleKey(place: ListPosition): ListPosition {
  return place.title === undefined ? place : { ...place, title: titleKey(place.title) };
}

/** Returns the latest readable memories in force that match. */
export async function latest(
  memories: TenantCollection<MemoryDoc>,
  tenant_id: string,
  access: Access,
  {
    scope,
    where,
    limit,
    past,
  }: { scope?: MemoryScope; where: Clause; limit: number; past?: HeldAt | undefined },
  now: Date,
): Promise<MemoryDoc[]> {
  const order: Order = { by: "created_at", sign: -1 };
  const sort = { created_at: -1, _id: -1 } as const;
  const parts = await Promise.all(
    splitPartitions(access, scope).map((partition) => {
      const clauses = buildClauses({ params: {}, past, now });
      const filter = joined([
        partition,
        statusOf({ include_superseded: past !== undefined }),
        ...clauses,
        where,
      ]);
      return memories.findWithin(tenant_id, filter, { sort, limit });
    }),
  );
  const merged = parts.flatMap(({ rows }) => rows).sort((a, b) => compare(a, b, order));
  return merged.slice(0, limit);
}

const IN_FORCE_OR_REPLACED: MemoryStatus[] = ["active", "superseded"];

function includesSuperseded({ include_superseded, as_of, known_at }: Params): boolean {
  return include_superseded || as_of !== undefined || known_at !== undefined;
}

function statusOf(params: Params): Clause {
  return { status: includesSuperseded(params) ? { $in: IN_FORCE_OR_REPLACED } : "active" };
}

/** Returns the caller's filters, and the default ones that hide rows. */
function buildClauses({ params, past, now }: Pick<ListQuery, "params" | "past" | "now">): Clause[] {
  const { type, project_id, never_cited, tags = [], namespace } = params;
  const wanted = tagsOfQuery(tags);
  return [
    { $or: [{ expires_at: null }, { expires_at: { $gt: now } }] },
    {
      ...(type !== undefined && { type }),
      ...(project_id !== undefined && { project_id: project_id || null }),
      ...(never_cited && { last_cited_at: null }),
      ...(wanted.length > 0 && { tags: { $in: wanted } }),
    },
    ...(namespace === undefined ? [] : [inNamespace(namespace)]),
    toClause(params) as Clause,
    ...(past ? heldClauses(past) : []),
  ];
}

/** Compares like the store, to merge the results of several queries. */
function compare(a: ListPosition, b: ListPosition, { by, sign }: Order): number {
  if (by === "title" && a.title !== b.title) return compareTexts(a.title, b.title) * sign;
  if (a[by] < b[by]) return -sign;
  if (a[by] > b[by]) return sign;
  return compareTexts(a._id, b._id) * sign;
}

/** @throws Fault validation_failed if the cursor is not from a list in this order */
function parsePlace(cursor: string, by: MemorySort): ListPosition {
  const { value, id } = fromCursor(cursor, by);
  return { _id: id, [by]: value } as unknown as ListPosition;
}

/** Returns the first rows, limited to one message between nodes. */
export function inOneMessage(docs: MemoryDoc[]): MemoryDoc[] {
  return upToSize(docs, ({ title, content, metadata }) => title.length + content.length + metadata.length);
}

type Clause = Where<MemoryDoc>;

/** Above this many partitions a single query is faster. */
const MOST_PARTITIONS = 16;

/**
 * Returns filters that together match what a caller may read, each row once: an index serves the rows of the
 * institution, of each team and of each owner in order.
 * @param most above this many partitions returns a single filter, which no index serves
 */
function splitPartitions(access: Access, scope: MemoryScope | undefined, most = MOST_PARTITIONS): Clause[] {
  const { agent_ids, team_ids } = access;
  if (agent_ids.length + team_ids.length >= most) return [{ ...visibleTo(access), ...(scope && { scope }) }];
  const includes = (...scopes: MemoryScope[]) => scope === undefined || scopes.includes(scope);
  const institution = includes("institutional") ? [{ scope: "institutional" as const, team_id: null }] : [];
  const teams = includes("team") ? team_ids.map((team_id) => ({ scope: "team" as const, team_id })) : [];
  const kept = [
    ...(includes("agent") ? [{ scope: "agent" as const }] : []),
    ...(includes("team") ? [{ scope: "team" as const, team_id: { $nin: team_ids } }] : []),
  ];
  const owned = kept.length ? agent_ids.map((agent_id) => ({ agent_id, $or: kept })) : [];
  return [...institution, ...teams, ...owned];
}

/**
 * Combines clauses into one filter, flat where possible: only flat conditions use a compound index. All hold, also of
 * several for one field: none can replace that of a partition.
 */
function joined(clauses: Clause[]): Clause {
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
  const filter = { _id: { $in: rows.map(({ _id }) => _id) } };
  for await (const batch of memories.batches(tenant_id, filter, { projection: { metadata: 1 } }))
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
