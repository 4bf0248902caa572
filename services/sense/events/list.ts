import type { ServiceBroker } from "moleculer";
import { type Caller, callerId, hasScope, isAdmin } from "../../../lib/access/caller.ts";
import { MESSAGE_BYTES } from "../../../lib/broker/message-size.ts";
import { fromCursor, toCursor } from "../../../lib/contract/cursor.ts";
import { Fault, invalidValue } from "../../../lib/contract/faults.ts";
import { compileGlob, type Glob, globError } from "../../../lib/filter/glob.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { literal } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";
import { positionFrom } from "./position.ts";
import { present } from "./present.ts";
import { type Order, Patience, type Range, windowOf, within } from "./windows.ts";

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

/** Page size for rows that are filtered one by one. */
const CHUNK = 500;
/** How long filtering rows may block the event loop. */
const SLICE_MS = 2;

/** Returns the events that a caller may see. */
type Visible = (rows: EventDoc[]) => Promise<EventDoc[]>;

interface Query {
  /** The condition that an index answers. */
  filter: Record<string, unknown>;
  order: Order;
  /** Where the rows that are wanted begin. */
  from: string;
  /** The condition checked row by row. */
  fits(row: EventDoc): boolean;
  visible: Visible;
  /** Every row that the filter finds is a result. */
  exact: boolean;
  /** The filter may match few of the rows it examines. */
  narrow: boolean;
}

/** Lists events, latest first, by cursor (api.md Events). @throws Fault insufficient_scope, validation_error. */
export async function listEvents(parts: Parts, caller: Caller, params: ListParams) {
  const { limit = 50 } = params;
  const query = toQuery(parts, caller, params);
  const found: EventDoc[] = [];
  const patience = new Patience();
  let bytes = 0;
  let last = params.cursor === undefined ? null : String(fromCursor(params.cursor, "position").value);
  let edge: Pick<Range, "from"> | null = null;
  for (let isSeen = query.narrow; ; ) {
    const size = query.exact ? limit - found.length + 1 : CHUNK;
    const range: Range = { from: query.from, before: last ?? END };
    if (isSeen) edge = await windowOf(parts.events, caller.tenant_id, query.order, range, patience.window);
    const rows = await nextRows(parts.events, caller.tenant_id, query, { ...range, ...edge }, size);
    const visible = new Set(await query.visible(await fitting(rows, query)));
    for (const row of rows) {
      const full = found.length === limit || (found.length > 0 && bytes + row.size > MESSAGE_BYTES);
      if (visible.has(row) && full) return answer(parts.events, caller, found, last);
      if (visible.has(row)) {
        found.push(row);
        bytes += row.size;
      }
      last = row.position;
    }
    isSeen = query.narrow && rows.length < size;
    if (rows.length < size) {
      if (!edge) return answer(parts.events, caller, found, null);
      last = edge.from;
    }
    if (patience.ends(found.length)) return answer(parts.events, caller, found, last);
  }
}

/** A costly glob may take a fifth of a millisecond per row. */
async function fitting(rows: EventDoc[], { fits }: Query): Promise<EventDoc[]> {
  const found: EventDoc[] = [];
  const slices = new Slices(SLICE_MS);
  for (const row of rows) {
    if (fits(row)) found.push(row);
    if (slices.over) await slices.next();
  }
  return found;
}

function toQuery(parts: Parts, caller: Caller, params: ListParams): Query {
  const { type, source, subject, id, since, unmatched } = params;
  const filter: Record<string, unknown> = {};
  if (source !== undefined) filter.source = source;
  if (subject !== undefined) filter.subject = subject;
  if (id !== undefined) filter.ce_id = id;
  if (unmatched === false) filter.unmatched_key = { $exists: false };
  const glob = type === undefined ? null : readGlob(type);
  const types = glob && (glob.literal ? type : likely(glob));
  if (types) filter.type = types;
  const fits = glob && !glob.literal ? (row: EventDoc) => glob.test(row.type) : () => true;
  const { own, visible } = visibility(parts, caller);
  if (own) filter.publisher_id = own;
  return {
    filter,
    order: unmatched
      ? { key: "unmatched_key", prefix: `${caller.tenant_id} ` }
      : { key: "position", prefix: "" },
    from: since === undefined ? "" : positionFrom(Date.parse(since)),
    fits,
    visible: visible ?? (async (rows) => rows),
    exact: !visible && (glob === null || glob.literal),
    narrow: id === undefined && Object.keys(filter).length > 0,
  };
}

const WILDCARD = /[*?]|\[!?.[^\]]*\]/su;

/** Returns an indexable condition on types that covers every match of the glob. Null for any type. */
function likely({ source, prefix }: Glob): object | null {
  const [start = ""] = /^[ -~]*/.exec(prefix) ?? [];
  if (start) return { $gte: start, $lt: start.slice(0, -1) + after(start.slice(-1)) };
  const [longest = ""] = source.split(WILDCARD).sort((a, b) => b.length - a.length);
  return longest ? { $regex: literal(longest) } : null;
}

const after = (character: string) => String.fromCharCode(character.charCodeAt(0) + 1);

/** `own`: only this publisher's events. `visible`: a check that asks deliveries. */
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

/** Whether a caller may see this event. */
export async function maySee(parts: Parts, caller: Caller, row: EventDoc): Promise<boolean> {
  const { own, visible } = visibility(parts, caller);
  if (visible) return (await visible([row])).length === 1;
  return own === undefined || row.publisher_id === own;
}

const SUMMARY = { envelope: 0 } as const;
/** Sorts after every position, which has only digits and lowercase letters. */
const END = "~";

function nextRows(
  events: TenantCollection<EventDoc>,
  tenant_id: string,
  { filter, order }: Query,
  range: Range,
  limit: number,
): Promise<EventDoc[]> {
  const options = { sort: { [order.key]: -1 as const }, limit, projection: SUMMARY };
  return events.find(tenant_id, { ...filter, ...within(order, range) }, options);
}

/** Loads the envelopes of a page's rows, which filtering did not read. */
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
    next_cursor: last === null ? null : toCursor("position", { value: last, id: "" }),
  };
}

function readGlob(type: string) {
  const error = globError(type);
  if (error) throw invalidValue("type", `type: ${error}.`, { value: type });
  return compileGlob(type);
}
