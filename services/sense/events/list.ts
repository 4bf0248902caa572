import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import { PLATFORM_EVENTS } from "../../../lib/cloudevents/platform-types.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { fromCursor, toCursor } from "../../../lib/contract/cursor.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { compileGlob, type Glob, globError } from "../../../lib/filter/glob.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { literal } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import { INSTALLED } from "../../extensions.ts";
import type * as contract from "./events.contract.ts";
import type { Outcome } from "./events.contract.ts";
import type { EventDoc } from "./events.model.ts";
import { countDeliveries, findCandidates, MOST_COUNTED, outcomeOf, receiversOf } from "./outcome.ts";
import { positionFrom } from "./position.ts";
import { present, presentJson } from "./present.ts";
import { visibilityFor } from "./visibility.ts";

/** Most index entries of a query: other readers wait that long. The first are short, as most lists fill soon. */
export const WINDOWS = [2_000, 16_000, 64_000] as const;
/** Limit of queries for a page with results. */
const MAX_QUERIES = 6;
/** Time limit for an empty page: some million events. */
const EMPTY_PAGE_MS = 2_000;
type Events = TenantCollection<EventDoc>;

type ListParams = ParamsOf<typeof contract.listEvents>;

interface Query {
  events: Events;
  broker: ServiceBroker;
  tenant_id: string;
  /** The condition that an index answers. */
  filter: Record<string, unknown>;
  /** The sort key: a field and its text before the position. */
  key: "position" | "unmatched_key" | "waiting_key";
  prefix: string;
  /** Where the requested positions begin. */
  from: string;
  /** The conditions checked row by row. */
  matches: ((row: EventDoc) => boolean) | null;
  filterVisible: ((rows: EventDoc[]) => Promise<EventDoc[]>) | undefined;
  outcome: Outcome | undefined;
  /** The filter may match few of the rows it examines: examine them in windows. */
  isSparse: boolean;
}

const PLATFORM_TYPES = [PLATFORM_EVENTS, ...INSTALLED.map(({ events = {} }) => events)].flatMap(Object.keys);

/** Leaves out the service's own events, in addition to another condition on the type. */
export const WITHOUT_SERVICE = { $and: [{ type: { $nin: PLATFORM_TYPES } }] };

/** Page size for rows that are filtered one by one. */
const CHUNK = 500;
/** How long filtering rows may block the event loop. */
const SLICE_MS = 2;
/** Sorts after every position, which has only digits and lowercase letters. */
const END = "~";

/** Lists events, latest first, by cursor (api.md Events). @throws Fault insufficient_scope, validation_error. */
export async function listEvents(events: Events, broker: ServiceBroker, caller: Caller, params: ListParams) {
  const { tenant_id } = caller;
  const page = new Page(params.limit ?? 50, { bytes: PAGE_BYTES, receivers: MOST_COUNTED });
  const before = await fill(page, toQuery(events, broker, caller, params), params.cursor);
  const ids = page.rows.map(({ _id }) => _id);
  const [rows, countsOf] = await Promise.all([
    loadRows(events, tenant_id, ids),
    countDeliveries(broker, tenant_id, page.rows),
  ]);
  const listed = rows.map((row) => {
    const deliveries = countsOf(row._id);
    return { ...present(row), outcome: outcomeOf(row, deliveries), deliveries };
  });
  return { events: listed, next_cursor: cursorOf(before) };
}

/** An event that a list found, without its content. */
export type FoundEvent = Pick<EventDoc, "_id" | "size"> & { accepted_at: string };

/** Finds what `listEvents` lists, without reading it: memory does not follow the size of the events. */
export async function findEvents(events: Events, broker: ServiceBroker, caller: Caller, params: ListParams) {
  const page = new Page(params.limit ?? 50);
  const before = await fill(page, toQuery(events, broker, caller, params), params.cursor);
  const listed = page.rows.map(({ _id, size, accepted_at }): FoundEvent => {
    return { _id, size, accepted_at: accepted_at.toISOString() };
  });
  return { found: listed, next_cursor: cursorOf(before) };
}

/** Loads events that were found, in their order, as the list shows them. */
export async function loadEvents(events: Events, tenant_id: string, ids: string[]) {
  const rows = await loadRows(events, tenant_id, ids);
  return rows.map((row) => ({ event_id: row._id, json: presentJson(row) }));
}

export type EventText = Awaited<ReturnType<typeof loadEvents>>[number];

async function loadRows(events: Events, tenant_id: string, ids: string[]) {
  if (ids.length === 0) return [];
  const loaded = await events.find(tenant_id, { _id: { $in: ids } }, { bounded: "a page" });
  const rows = new Map(loaded.map((row) => [row._id, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

/** Adds rows until the page is full. @returns the position before which the next page begins; null after the last */
async function fill(page: Page, query: Query, cursor: string | undefined): Promise<string | null> {
  const budget = new ScanBudget();
  /** All positions from here on are examined. */
  let before = cursor === undefined ? END : String(fromCursor(cursor, "position").value);
  const candidates = await candidatesOf(query);
  const looks = candidates ? lookAmong(query, candidates, before) : lookThrough(query, before, page, budget);
  for await (const { rows, end } of looks) {
    const visible = new Set(await filterRows(rows, query));
    for (const row of rows) {
      if (visible.has(row) && !page.add(row)) return before;
      before = row.position;
    }
    if (end === null) return null;
    before = end;
    // Rare outcomes are looked for as long as if none was found yet.
    if (budget.spend(query.outcome ? 0 : page.rows.length)) return before;
  }
  return null;
}

/** The rows of a query, and down to which position these are all; null: to the last. */
interface Look {
  rows: EventDoc[];
  end: string | null;
}

type Looks = AsyncGenerator<Look, void>;

/** Looks through all events before a position, latest first. */
async function* lookThrough(query: Query, from: string, page: Page, budget: ScanBudget): Looks {
  const isExact = !query.matches && !query.filterVisible && !query.outcome;
  let before = from;
  /** Where the current window begins; null for the whole range. */
  let window: string | null = null;
  for (let needsWindow = query.isSparse; ; ) {
    if (needsWindow) window = await findWindow(query, before, budget.window);
    const limit = isExact ? page.free + 1 : CHUNK;
    const rows = await findRows(query, window ?? query.from, before, limit);
    const isExamined = rows.length < limit;
    const end: string | null = isExamined ? window : (rows.at(-1) as EventDoc).position;
    yield { rows, end };
    if (end === null) return;
    before = end;
    needsWindow = query.isSparse && isExamined;
  }
}

/** Looks at events before a position by their ids, which are given latest first. */
async function* lookAmong(query: Query, ids: readonly string[], before: string): Looks {
  const left = ids.filter((id) => id < `${PREFIX}${before}`);
  while (left.length > 0) {
    const next = left.splice(0, CANDIDATES);
    const among = { ...query, filter: { ...query.filter, _id: { $in: next } } };
    const rows = await findRows(among, query.from, before, CANDIDATES);
    yield { rows, end: left.length > 0 ? (next.at(-1) as string).slice(PREFIX.length) : null };
  }
}

/** An event's id is its position after this. */
const PREFIX = "evt_";
/** Rows of one query by ids: most pages, and little to sort. */
const CANDIDATES = 100;

/** @returns null to look through all events */
async function candidatesOf({ events, broker, tenant_id, outcome }: Query) {
  const isFew = outcome === "dead" || outcome === "pending";
  return isFew ? findCandidates(events, broker, tenant_id, outcome) : null;
}

const cursorOf = (before: string | null) =>
  before === null ? null : toCursor("position", { value: before, id: "" });

/** Decides when a request for a list has searched long enough, however little it found. */
export class ScanBudget {
  readonly #until: number;
  #queries = 0;

  constructor(now = performance.now()) {
    this.#until = now + EMPTY_PAGE_MS;
  }

  /** Returns how many entries the next query may examine. */
  get window(): number {
    return WINDOWS[Math.min(this.#queries, WINDOWS.length - 1)] as number;
  }

  /** Counts a query. @returns whether it was the last */
  spend(count: number, now = performance.now()): boolean {
    this.#queries++;
    return count > 0 ? this.#queries >= MAX_QUERIES : now >= this.#until;
  }
}

const UNLIMITED = { bytes: Number.POSITIVE_INFINITY, receivers: Number.POSITIVE_INFINITY };

/** Rows up to a number, a sum of bytes and a sum of receivers; the first may have more. */
class Page {
  readonly rows: EventDoc[] = [];
  readonly #limit: number;
  readonly #most: typeof UNLIMITED;
  #bytes = 0;
  #receivers = 0;

  constructor(limit: number, most = UNLIMITED) {
    this.#limit = limit;
    this.#most = most;
  }

  get free(): number {
    return this.#limit - this.rows.length;
  }

  /** @returns whether it fitted */
  add(row: EventDoc): boolean {
    const bytes = this.#bytes + row.size;
    const receivers = this.#receivers + receiversOf(row);
    const isOver = bytes > this.#most.bytes || receivers > this.#most.receivers;
    if (this.free === 0 || (this.rows.length > 0 && isOver)) return false;
    this.rows.push(row);
    this.#bytes = bytes;
    this.#receivers = receivers;
    return true;
  }
}

function toQuery(events: Events, broker: ServiceBroker, caller: Caller, params: ListParams): Query {
  const { tenant_id } = caller;
  const { type, source, subject, id, since, unmatched, waiting } = params;
  const filter: Record<string, unknown> = {};
  if (source !== undefined) filter.source = source;
  if (subject !== undefined) filter.subject = subject;
  if (id !== undefined) filter.ce_id = id;
  if (unmatched === false) filter.unmatched_key = { $exists: false };
  if (waiting === false) filter.due_at = { $exists: false };
  const glob = type === undefined ? null : readGlob(type);
  const types = glob && (glob.literal ? type : indexableTypes(glob));
  if (types) filter.type = types;
  if (params.include_service === false) Object.assign(filter, WITHOUT_SERVICE);
  const { publisher_id, filter: filterVisible } = visibilityFor(broker, caller);
  if (publisher_id) filter.publisher_id = publisher_id;
  return {
    ...{ events, broker, tenant_id, filter },
    ...keyOf(tenant_id, params),
    from: since === undefined ? "" : positionFrom(Date.parse(since)),
    matches: glob && !glob.literal ? (row) => glob.test(row.type) : null,
    filterVisible,
    outcome: params.outcome,
    isSparse: id === undefined && Object.keys(filter).length > 0,
  };
}

/** Returns the key that lists what is asked for. An event cannot both wait and be unmatched: none is listed. */
function keyOf(
  tenant_id: string,
  { unmatched, waiting, outcome }: ListParams,
): Pick<Query, "key" | "prefix"> {
  if (waiting) return { key: "waiting_key", prefix: `${tenant_id} ` };
  if (unmatched || outcome === "none") return { key: "unmatched_key", prefix: `${tenant_id} ` };
  return { key: "position", prefix: "" };
}

function readGlob(type: string): Glob {
  const error = globError(type);
  if (error) throw invalidValue("type", `type: ${error}.`, { value: type });
  return compileGlob(type);
}

const WILDCARD = /[*?]|\[!?.[^\]]*\]/su;

/** Returns an indexable condition on types that covers every match of the glob. Null for any type. */
function indexableTypes({ source, prefix }: Glob): object | null {
  const [start = ""] = /^[ -~]*/.exec(prefix) ?? [];
  if (start) return { $gte: start, $lt: start.slice(0, -1) + nextCharacter(start.slice(-1)) };
  const [longest = ""] = source.split(WILDCARD).sort((a, b) => b.length - a.length);
  return longest ? { $regex: literal(longest) } : null;
}

const nextCharacter = (character: string) => String.fromCharCode(character.charCodeAt(0) + 1);

/** Returns the rows that match and that the caller may see. A costly glob may take a fifth of a millisecond per row. */
async function filterRows(rows: EventDoc[], query: Query): Promise<EventDoc[]> {
  const { broker, tenant_id, matches, filterVisible, outcome } = query;
  let matching = rows;
  if (matches) {
    matching = [];
    const slices = new Slices(SLICE_MS);
    for (const row of rows) {
      if (matches(row)) matching.push(row);
      if (slices.over) await slices.next();
    }
  }
  const visible = filterVisible ? await filterVisible(matching) : matching;
  if (!outcome) return visible;
  const countsOf = await countDeliveries(broker, tenant_id, visible);
  return visible.filter((row) => outcomeOf(row, countsOf(row._id)) === outcome);
}

/** Returns a filter for positions: `from` is inclusive, `before` exclusive. */
function inRange({ key, prefix }: Query, from: string, before: string): Record<string, unknown> {
  return { [key]: { $gte: prefix + from, $lt: prefix + before } };
}

/** Returns where a window of `size` events before a position begins; null if there are no more. */
async function findWindow(query: Query, before: string, size: number): Promise<string | null> {
  const sort = { [query.key]: -1 as const };
  const options = { sort, skip: size - 1, limit: 1, projection: { position: 1 as const } as const };
  const [first] = await query.events.find(query.tenant_id, inRange(query, query.from, before), options);
  return first?.position ?? null;
}

/** Finds the latest rows of a range, without envelopes. */
function findRows(query: Query, from: string, before: string, limit: number): Promise<EventDoc[]> {
  const options = { sort: { [query.key]: -1 as const }, limit, projection: { envelope: 0 } as const };
  const filter = { ...query.filter, ...inRange(query, from, before) };
  return query.events.find(query.tenant_id, filter, options);
}
