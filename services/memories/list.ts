import { containing } from "../../lib/containing.ts";
import type { ParamsOf } from "../../lib/contract.ts";
import { invalidCursor } from "../../lib/faults.ts";
import { tagsOfQuery } from "../../lib/tags.ts";
import { type Access, type MemoryScope, visibleTo } from "../../lib/visibility.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { listMemories, MemorySort } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { present, upToSize } from "./rows.ts";

type Params = ParamsOf<typeof listMemories>;
type Clause = Record<string, unknown>;
/** As much of a row as gives its place in the order. */
type Place = Pick<MemoryDoc, "_id" | MemorySort>;

interface Order {
  by: MemorySort;
  sign: 1 | -1;
}

/** Beyond so many, one query for all of them is the better one. */
const MOST_LANES = 16;

/**
 * A page of what a caller may see, and how many there are. What the institution, each team and each owner has stands
 * in order in an index by itself: the page is merged from these lanes, so that its cost does not follow what is not
 * the caller's to see.
 */
export async function listPage(
  memories: TenantCollection<MemoryDoc>,
  tenant_id: string,
  access: Access,
  params: Params,
  now: Date,
) {
  const { offset = 0, limit = 50, sort: by = "created_at", order: direction = "desc", cursor } = params;
  const order: Order = { by, sign: direction === "asc" ? 1 : -1 };
  const wanted = clausesOf(params, now);
  const lanes = lanesOf(access, params.scope).map((lane) => [lane, ...wanted]);
  const beyond = cursor === undefined ? [] : beyondPlace(fromCursor(cursor, by), order);
  const most = offset + limit + 1;
  const sort = { [by]: order.sign, _id: order.sign };
  // Ids alone can be told, in order, from an index.
  const idsIn = (clauses: Clause[], most?: number) =>
    memories.find(tenant_id, joined(clauses), { sort, projection: { _id: 1 }, ...(most && { limit: most }) });
  const inLane = async (lane: Clause[]): Promise<{ places: Place[]; count: number }> => {
    // Only by reading them all is known which hold a text: then they are read once.
    const all = params.search && beyond.length === 0 ? await idsIn(lane) : null;
    const [rows, count] = await Promise.all([
      all?.slice(0, most) ?? idsIn([...lane, ...beyond], most),
      all?.length ?? memories.count(tenant_id, joined(lane)),
    ]);
    return { places: await memories.find(tenant_id, idsOf(rows), { projection: { [by]: 1 } }), count };
  };
  const found = await Promise.all(lanes.map(inLane));
  const merged = found.flatMap(({ places }) => places).sort((a, b) => compare(a, b, order));
  const rows = await load(memories, tenant_id, merged.slice(offset, offset + limit));
  const last = merged.length > offset + rows.length ? rows.at(-1) : undefined;
  return {
    memories: rows.map(present),
    total: found.reduce((sum, { count }) => sum + count, 0),
    next_cursor: last ? toCursor(last, by) : null,
  };
}

/** The latest of what a caller may see, of those in force that fit. */
export async function latest(
  memories: TenantCollection<MemoryDoc>,
  tenant_id: string,
  access: Access,
  { scope, where, limit }: { scope?: MemoryScope; where: Clause; limit: number },
  now: Date,
): Promise<MemoryDoc[]> {
  const order: Order = { by: "created_at", sign: -1 };
  const sort = { created_at: -1, _id: -1 } as const;
  const found = await Promise.all(
    lanesOf(access, scope).map((lane) =>
      memories.find(tenant_id, joined([lane, ...clausesOf({}, now), where]), { sort, limit }),
    ),
  );
  const merged = found.flat().sort((a, b) => compare(a, b, order));
  return merged.slice(0, limit);
}

/** One filter of several. What can stand side by side does: an index over several fields is found only that way. */
function joined(clauses: Clause[]) {
  const fields = Object.assign({}, ...clauses);
  delete fields.$or;
  const choices = clauses.flatMap(({ $or }) => ($or ? { $or } : []));
  return (choices.length ? { ...fields, $and: choices } : fields) as object;
}

/** The rows at these places, in their order, as far as one answer holds them. */
async function load(memories: TenantCollection<MemoryDoc>, tenant_id: string, places: Place[]) {
  const rows = new Map((await memories.find(tenant_id, idsOf(places))).map((row) => [row._id, row]));
  return upToSize(places.flatMap(({ _id }) => rows.get(_id) ?? []));
}

function idsOf(rows: Pick<MemoryDoc, "_id">[]) {
  return { _id: { $in: rows.map(({ _id }) => _id) } };
}

/** What the caller asked for, and what nobody is shown unasked. */
function clausesOf(params: Params, now: Date): Clause[] {
  const { type, project_id, source_type, never_cited, include_superseded, tags = [], search } = params;
  const wanted = tagsOfQuery(tags);
  return [
    { status: include_superseded ? { $in: ["active", "superseded"] } : "active" },
    { $or: [{ expires_at: null }, { expires_at: { $gt: now } }] },
    {
      ...(type !== undefined && { type }),
      ...(project_id !== undefined && { project_id: project_id || null }),
      ...(source_type !== undefined && { source_type }),
      ...(never_cited && { last_cited_at: null }),
      ...(wanted.length > 0 && { tags: { $in: wanted } }),
    },
    ...(search ? [withText(search)] : []),
  ];
}

function withText(text: string): Clause {
  const pattern = containing(text);
  return { $or: [{ title: pattern }, { content: pattern }] };
}

/** Filters that together hold what a caller may read, each row once. */
function lanesOf(access: Access, scope: MemoryScope | undefined): Clause[] {
  const { agent_ids, team_ids } = access;
  if (agent_ids.length + team_ids.length >= MOST_LANES) {
    return [{ ...visibleTo(access), ...(scope && { scope }) }];
  }
  const asked = (...scopes: MemoryScope[]) => scope === undefined || scopes.includes(scope);
  const institution = asked("institutional") ? [{ scope: "institutional", team_id: null }] : [];
  const teams = asked("team") ? team_ids.map((team_id) => ({ scope: "team", team_id })) : [];
  const kept = [
    ...(asked("agent") ? [{ scope: "agent" }] : []),
    ...(asked("team") ? [{ scope: "team", team_id: { $nin: team_ids } }] : []),
  ];
  const owned = kept.length ? agent_ids.map((agent_id) => ({ agent_id, $or: kept })) : [];
  return [...institution, ...teams, ...owned];
}

function compare(a: Place, b: Place, { by, sign }: Order): number {
  if (a[by] < b[by]) return -sign;
  if (a[by] > b[by]) return sign;
  return a._id < b._id ? -sign : sign;
}

/** What comes after a place in the order; the range lets an index begin there. */
function beyondPlace({ value, id }: { value: unknown; id: string }, { by, sign }: Order): Clause[] {
  const [after, from] = sign === 1 ? ["$gt", "$gte"] : ["$lt", "$lte"];
  return [
    { [by]: { [from as string]: value } },
    { $or: [{ [by]: { [after]: value } }, { _id: { [after]: id } }] },
  ];
}

function toCursor(place: Place, by: MemorySort): string {
  return Buffer.from(JSON.stringify([by, place[by], place._id])).toString("base64url");
}

/** @throws Fault validation_failed when no list in this order gave it */
function fromCursor(cursor: string, by: MemorySort): { value: unknown; id: string } {
  try {
    const [sort, value, id] = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (sort === by && typeof id === "string" && value !== null && typeof value !== "object") {
      return { value: by === "created_at" ? new Date(value) : value, id };
    }
  } catch {
    // Not one of ours, as below.
  }
  throw invalidCursor(cursor);
}
