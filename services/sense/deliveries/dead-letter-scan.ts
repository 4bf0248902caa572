import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Place } from "../../../lib/contract/cursor.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { compileGlob, globError } from "../../../lib/filter/glob.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import type { EventHeader } from "../events/events.ts";
import { reasonKey } from "./dead.ts";
import { visibleAgent } from "./dead-letter-access.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** Which dead letters a request concerns; without a field, all that the caller may see. */
export interface DeadLetterFilter {
  reason?: string;
  agent_id?: string;
  /** A glob over the event's type. */
  type?: string;
  /** Part of the reason, or of the event's type, subject or source. */
  text?: string;
  until?: string;
}

interface ScanDeps {
  broker: ServiceBroker;
  deliveries: TenantCollection<DeliveryDoc>;
}

/** Rows examined at once when events have to be looked at. */
const CHUNK = 500;

type Test = (row: DeliveryDoc, event: EventHeader | undefined) => boolean;

interface Query {
  field: "dlq_agent_key" | "dlq_key";
  owner: string;
  filter: Where<DeliveryDoc>;
  /** What the store cannot answer, because events are in another collection. */
  matches: Test | null;
}

/** A part of the dead letters: those that match, and the last one examined; null after the last part. */
export interface Scanned {
  rows: DeliveryDoc[];
  last: DeliveryDoc | null;
}

/**
 * Examines a caller's dead letters, latest first, without timelines and payloads. `size` is the number of rows of a part
 * if all of its rows match.
 *
 * @throws Fault forbidden, or validation_error for an invalid glob
 */
export async function* scanDeadLetters(
  deps: ScanDeps,
  caller: Caller,
  wanted: DeadLetterFilter,
  { after, size = CHUNK }: { after?: Place | undefined; size?: number } = {},
): AsyncGenerator<Scanned> {
  const query = toQuery(caller, wanted);
  if (!query) return;
  const limit = query.matches ? CHUNK : size;
  let place = after;
  for (;;) {
    const found = await findLatest(deps.deliveries, caller.tenant_id, query, { place, limit });
    const rows = query.matches
      ? await filterRows(deps.broker, caller.tenant_id, found, query.matches)
      : found;
    const last = found.length === limit ? (found.at(-1) as DeliveryDoc) : null;
    yield { rows, last };
    if (!last) return;
    place = placeOf(last);
  }
}

export function placeOf({ dead_lettered_at, _id }: DeliveryDoc): Place {
  return { value: dead_lettered_at as Date, id: _id };
}

/** @returns null if the caller sees none of them */
function toQuery(caller: Caller, { reason, agent_id, type, text, until }: DeadLetterFilter): Query | null {
  const own = visibleAgent(caller);
  if (own && agent_id && own !== agent_id) return null;
  const agent = own ?? agent_id;
  const tests = [type === undefined ? null : typeTest(type), text === undefined ? null : textTest(text)];
  const given = tests.filter((test) => test !== null);
  return {
    field: agent ? "dlq_agent_key" : "dlq_key",
    owner: agent ?? caller.tenant_id,
    filter: {
      ...(reason !== undefined && { dlq_reason_key: reasonKey(caller.tenant_id, reason) }),
      ...(until !== undefined && { dead_lettered_at: { $lte: new Date(until) } }),
    },
    matches: given.length === 0 ? null : (row, event) => given.every((test) => test(row, event)),
  };
}

function typeTest(type: string): Test {
  const error = globError(type);
  if (error) throw invalidValue("type", `type: ${error}.`, { value: type });
  const glob = compileGlob(type);
  return (_, event) => event !== undefined && glob.test(event.type);
}

function textTest(text: string): Test {
  const wanted = text.toLowerCase();
  return ({ dlq_reason, source }, event) =>
    [dlq_reason, event?.type, event?.subject, event?.source ?? source].some((part) =>
      part?.toLowerCase().includes(wanted),
    );
}

async function filterRows(
  broker: ServiceBroker,
  tenant_id: string,
  rows: DeliveryDoc[],
  matches: Test,
): Promise<DeliveryDoc[]> {
  const event_ids = [...new Set(rows.flatMap(({ event_id }) => event_id ?? []))];
  const headers: EventHeader[] = event_ids.length
    ? await broker.call("events.headers", { tenant_id, event_ids })
    : [];
  const events = new Map(headers.map((each) => [each._id, each]));
  return rows.filter((row) => matches(row, events.get(row.event_id ?? "")));
}

/**
 * Returns the latest rows; those with equal keys are sorted by id. Finds the end of the page first, by the index: it
 * has no ids, so MongoDB would otherwise sort all rows for every page.
 */
async function findLatest(
  deliveries: TenantCollection<DeliveryDoc>,
  tenant_id: string,
  { field, owner, filter }: Query,
  { place, limit }: { place: Place | undefined; limit: number },
): Promise<DeliveryDoc[]> {
  const behind = { $and: [filter, pageFilter(field, owner, place)] };
  const ends = { sort: { [field]: -1 }, limit, projection: { [field]: 1 } } as const;
  const last = (await deliveries.find(tenant_id, behind, ends)).at(-1);
  if (!last) return [];
  const page = { $and: [...behind.$and, { [field]: { $gte: last[field] } }] };
  // Payloads are loaded later, only for the rows in the answer.
  const projection = { timeline: 0, payload_json: 0, "origin.headers": 0 } as const;
  const order = { sort: { [field]: -1, _id: -1 }, limit, projection, bounded: "nothing long" } as const;
  return deliveries.find(tenant_id, page, order);
}

/** Filters an owner's rows after a position; the id separates rows that died in the same millisecond. */
function pageFilter(field: Query["field"], owner: string, after: Place | undefined): Where<DeliveryDoc> {
  if (!after) return { [field]: { $gt: `${owner} `, $lt: `${owner} ~` } };
  const key = `${owner} ${(after.value as Date).toISOString()}`;
  return {
    [field]: { $gt: `${owner} `, $lte: key },
    $or: [{ [field]: { $lt: key } }, { _id: { $lt: after.id } }],
  };
}
