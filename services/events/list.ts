import type { ServiceBroker } from "moleculer";
import { type Caller, callerId, hasScope, isAdmin } from "../../lib/caller.ts";
import { Fault, invalidCursor, invalidValue } from "../../lib/faults.ts";
import { compileGlob, globError } from "../../lib/glob.ts";
import type { TenantCollection } from "../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";
import { fromCursor, positionFrom, toCursor } from "./position.ts";
import { present } from "./present.ts";
import { type Range, WINDOWS, windowOf } from "./windows.ts";

interface ListParams {
  type?: string;
  source?: string;
  subject?: string;
  id?: string;
  since?: string;
  unmatched?: boolean;
  limit?: number;
  cursor?: string;
}

interface Parts {
  events: TenantCollection<EventDoc>;
  broker: ServiceBroker;
}

/** One request looks at so many rows at the most, however few of them fit. */
const MAX_LOOKED_AT = 2_000;
const CHUNK = 500;
const MAX_BYTES = 4 * 1_048_576;

/** Whether a caller may see an event, for many at once. */
type Visible = (rows: EventDoc[]) => Promise<EventDoc[]>;

interface Query {
  /** What an index answers. */
  filter: Record<string, unknown>;
  /** The field that the rows are ordered by, and what stands in it before the position. */
  key: "position" | "unmatched_key";
  prefix: string;
  /** Where the rows that are wanted begin. */
  from: string;
  /** What is looked at one by one. */
  fits(row: EventDoc): boolean;
  visible: Visible;
  /** Every row that the filter finds is an answer. */
  exact: boolean;
  /** The filter may fit few of the rows it is tried on. */
  narrow: boolean;
}

/** Events latest first, by cursor (api.md Events). @throws Fault insufficient_scope, validation_error. */
export async function listEvents(parts: Parts, caller: Caller, params: ListParams) {
  const { limit = 50 } = params;
  const query = toQuery(parts, caller, params);
  const found: EventDoc[] = [];
  let lookedAt = 0;
  let bytes = 0;
  let last = startOf(params.cursor);
  for (let window = 0; ; window++) {
    const size = query.exact ? limit - found.length + 1 : CHUNK;
    const range: Range = { from: query.from, before: last ?? END };
    const edge = query.narrow ? await windowOf(parts.events, caller.tenant_id, range, window) : null;
    const rows = await nextRows(parts.events, caller.tenant_id, query, { ...range, ...edge }, size);
    const visible = new Set(await query.visible(rows.filter(query.fits)));
    for (const row of rows) {
      const full = found.length === limit || (found.length > 0 && bytes + row.size > MAX_BYTES);
      if (visible.has(row) && full) return answer(parts.events, caller, found, last);
      if (visible.has(row)) {
        found.push(row);
        bytes += row.size;
      }
      last = row.position;
    }
    lookedAt += rows.length;
    if (rows.length < size) {
      if (!edge) return answer(parts.events, caller, found, null);
      last = edge.from;
    }
    if (lookedAt >= MAX_LOOKED_AT || window === WINDOWS.length - 1)
      return answer(parts.events, caller, found, last);
  }
}

function toQuery(parts: Parts, caller: Caller, params: ListParams): Query {
  const { type, source, subject, id, since, unmatched } = params;
  const filter: Record<string, unknown> = {};
  if (source !== undefined) filter.source = source;
  if (subject !== undefined) filter.subject = subject;
  if (id !== undefined) filter.ce_id = id;
  if (unmatched === false) filter.unmatched_key = { $exists: false };
  const glob = type === undefined ? null : readGlob(type);
  if (glob?.literal) filter.type = type;
  const fits = glob && !glob.literal ? (row: EventDoc) => glob.test(row.type) : () => true;
  const { own, visible } = visibility(parts, caller);
  if (own) filter.publisher_id = own;
  return {
    filter,
    ...(unmatched
      ? { key: "unmatched_key", prefix: `${caller.tenant_id} ` }
      : { key: "position", prefix: "" }),
    from: since === undefined ? "" : positionFrom(Date.parse(since)),
    fits,
    visible: visible ?? (async (rows) => rows),
    exact: !visible && (glob === null || glob.literal),
    narrow: id === undefined && !unmatched && Object.keys(filter).length > 0,
  };
}

/** `own`: only what this one published. `visible`: what has to be asked of the deliveries. */
function visibility({ broker }: Parts, caller: Caller): { own?: string; visible?: Visible } {
  if (isAdmin(caller)) return {};
  const me = callerId(caller);
  const receives = caller.kind === "agent" && hasScope(caller, "receive");
  const sends = hasScope(caller, "send");
  if (!receives && !sends) {
    throw new Fault("insufficient_scope", "This needs the scope send or receive.", {
      required_scope: "send",
    });
  }
  if (!receives) return { own: me };
  return {
    async visible(rows) {
      const published = (row: EventDoc) => sends && row.publisher_id === me;
      const event_ids = rows.filter((row) => !published(row)).map((row) => row._id);
      const asked = { tenant_id: caller.tenant_id, agent_id: me, event_ids };
      const given = new Set(
        event_ids.length ? await broker.call<string[], unknown>("deliveries.given_to", asked) : [],
      );
      return rows.filter((row) => published(row) || given.has(row._id));
    },
  };
}

/** Whether a caller may see this one event. */
export async function maySee(parts: Parts, caller: Caller, row: EventDoc): Promise<boolean> {
  const { own, visible } = visibility(parts, caller);
  if (visible) return (await visible([row])).length === 1;
  return own === undefined || row.publisher_id === own;
}

const SUMMARY = { envelope: 0 } as const;
/** A position is of digits and small letters, which all come before it. */
const END = "~";

function nextRows(
  events: TenantCollection<EventDoc>,
  tenant_id: string,
  { filter, key, prefix }: Query,
  { from, before }: Range,
  limit: number,
): Promise<EventDoc[]> {
  const range = { [key]: { $gte: prefix + from, $lt: prefix + before } };
  const options = { sort: { [key]: -1 as const }, limit, projection: SUMMARY };
  return events.find(tenant_id, { ...filter, ...range } as never, options);
}

/** The rows of a page with their envelopes, which were not read while looking. */
async function answer(
  events: TenantCollection<EventDoc>,
  { tenant_id }: Caller,
  found: EventDoc[],
  last: string | null,
) {
  const fields = { projection: { envelope: 1 } };
  const texts = found.length
    ? await events.find(tenant_id, { _id: { $in: found.map((row) => row._id) } }, fields)
    : [];
  const envelopes = new Map(texts.map((row) => [row._id, row.envelope]));
  const kept = found.filter((row) => envelopes.has(row._id));
  return {
    events: kept.map((row) => present({ ...row, envelope: envelopes.get(row._id) as string })),
    next_cursor: last === null ? null : toCursor(last),
  };
}

function readGlob(type: string) {
  const error = globError(type);
  if (error) throw invalidValue("type", `type: ${error}.`, { value: type });
  return compileGlob(type);
}

function startOf(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const position = fromCursor(cursor);
  if (position === null) throw invalidCursor(cursor);
  return position;
}
