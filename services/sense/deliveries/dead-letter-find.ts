import type { ServiceBroker } from "moleculer";
import { type Caller, isAdmin } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import type { Place } from "../../../lib/contract/cursor.ts";
import { forbidden, invalidValue } from "../../../lib/contract/faults.ts";
import { compileGlob, type Glob, globError } from "../../../lib/filter/glob.ts";
import { literal } from "../../../lib/text/containing.ts";
import type { Where } from "../../../storage/query.ts";
import { causeOf } from "./dead-letter-state.ts";
import type { replayDeadLetters } from "./dead-letters.contract.ts";
import { type DeliveryDeps, type DeliveryDoc, deadKey, reasonKey } from "./deliveries.model.ts";

/** The searched fields of a dead letter's event, as `events.headers` returns them. */
export interface EventHeader {
  _id: string;
  type: string;
  source: string;
  subject: string | null;
}

/** Dead letters of one bulk request, by their ids or by a filter. */
export type ManyParams = ParamsOf<typeof replayDeadLetters>;

/** Which dead letters a request concerns; without a field, all that the caller may see. */
export type DeadLetterFilter = Omit<ManyParams, "ids" | "dry_run">;

type FindDeps = Pick<DeliveryDeps, "broker" | "deliveries">;

/** Rows of one query: other readers wait that long. */
const WINDOW = 500;
/** Windows in which one request for a page looks for a cause, a type or a text. */
const PAGE_WINDOWS = 20;

/** Without what may be long. Payloads are loaded later, only for the rows in the answer. */
export const SHORT = {
  projection: { timeline: 0, payload_json: 0, log: 0, "origin.headers": 0 },
  bounded: "nothing long",
} as const;

/** Returns the agent whose dead letters a caller may see; null for an admin, who sees all of the tenant's. */
export function visibleAgent(caller: Caller): string | null {
  if (isAdmin(caller)) return null;
  if (caller.kind === "agent") return caller.agent_id;
  throw forbidden("Only its agent and admins can read a dead letter. Ask one of them.");
}

interface Wanted {
  after?: Place | undefined;
  limit: number;
  windows?: number;
  isEligible?: (row: DeliveryDoc) => boolean;
}

/**
 * Finds up to `limit` of a caller's dead letters after a place, latest first; `next` is where the next page begins, null
 * after the last. With a cause, a type or a text it may end before. @throws Fault forbidden, validation_error
 */
export async function findDead(
  deps: FindDeps,
  caller: Caller,
  filter: DeadLetterFilter,
  { after, limit, windows = PAGE_WINDOWS, isEligible = () => true }: Wanted,
): Promise<{ rows: DeliveryDoc[]; next: Place | null }> {
  const query = toQuery(caller, filter);
  if (!query) return { rows: [], next: null };
  const dead: DeliveryDoc[] = [];
  let place: Place | null | undefined = after;
  for (let i = 0; i < windows && place !== null && dead.length <= limit; i++) {
    const { rows, end } = await readWindow(deps, query, place, limit + 1 - dead.length);
    dead.push(...rows.filter(isEligible));
    place = end;
  }
  const rows = dead.slice(0, limit);
  const cut = dead.length > limit ? placeOf(rows.at(-1) as DeliveryDoc) : place;
  return { rows, next: cut ?? null };
}

export function placeOf({ dead_lettered_at, _id }: DeliveryDoc): Place {
  return { value: dead_lettered_at as Date, id: _id };
}

interface Query {
  tenant_id: string;
  key: "dlq_agent_key" | "dlq_key";
  owner: string;
  /** The latest value of the key. */
  latest: string;
  filter: Where<DeliveryDoc>;
  cause: string | undefined;
  glob: Glob | null;
  text: RegExp | null;
}

/** @returns null if the caller sees none of them */
function toQuery(
  caller: Caller,
  { reason, cause, agent_id, type, text, until }: DeadLetterFilter,
): Query | null {
  const { tenant_id } = caller;
  const own = visibleAgent(caller);
  if (own && agent_id && own !== agent_id) return null;
  const agent = own ?? agent_id;
  const owner = agent ?? tenant_id;
  const error = type === undefined ? null : globError(type);
  if (error) throw invalidValue("type", `type: ${error}.`, { value: type });
  return {
    ...{ tenant_id, owner, key: agent ? "dlq_agent_key" : "dlq_key" },
    latest: until === undefined ? `${owner} ~` : deadKey(owner, new Date(until)),
    filter: reason === undefined ? {} : { dlq_reason_key: reasonKey(tenant_id, reason) },
    cause,
    glob: type === undefined ? null : compileGlob(type),
    text: text === undefined ? null : new RegExp(literal(text), "iu"),
  };
}

/** Returns what matches among the next rows, and the place behind these; null after the last. */
async function readWindow(deps: FindDeps, query: Query, after: Place | undefined, most: number) {
  const { tenant_id, key, filter, cause, glob, text } = query;
  const isFiltered = glob !== null || text !== null || cause !== undefined;
  const behind = [filter, pageFilter(query, after)];
  // Sort by id only up to the last row: the index has no ids, and MongoDB would sort all rows for every page.
  const skip = (isFiltered ? WINDOW : Math.min(most, WINDOW)) - 1;
  const projection = { [key]: 1, dead_lettered_at: 1 } as const;
  const options = { sort: { [key]: -1 }, skip, limit: 1, projection } as const;
  const [last] = await deps.deliveries.find(tenant_id, { $and: behind }, options);
  if (last) behind.push({ [key]: { $gte: last[key] } });
  const sort = { [key]: -1, _id: -1 } as const;
  const found = await deps.deliveries.find(tenant_id, { $and: behind }, { sort, ...SHORT });
  const rows = found.filter(
    ({ type, dlq_reason = "" }) =>
      (glob === null || (type !== undefined && glob.test(type))) &&
      (cause === undefined || causeOf(dlq_reason) === cause),
  );
  const end = last ? { value: last.dead_lettered_at as Date, id: "" } : null;
  return { rows: text ? await withText(deps.broker, tenant_id, rows, text) : rows, end };
}

/** Filters an owner's rows after a place; the id separates rows that died in the same millisecond. */
function pageFilter({ key, owner, latest }: Query, after: Place | undefined): Where<DeliveryDoc> {
  const from = { $gt: `${owner} ` };
  if (!after) return { [key]: { ...from, $lte: latest } };
  const reached = deadKey(owner, after.value as Date);
  return {
    [key]: { ...from, $lte: reached < latest ? reached : latest },
    $or: [{ [key]: { $lt: reached } }, { _id: { $lt: after.id } }],
  };
}

/** Returns the rows with a text in their reason, or in their event's type, subject or source. */
async function withText(broker: ServiceBroker, tenant_id: string, rows: DeliveryDoc[], text: RegExp) {
  const event_ids = [...new Set(rows.flatMap(({ event_id }) => event_id ?? []))];
  const headers: EventHeader[] = event_ids.length
    ? await broker.call("events.headers", { tenant_id, event_ids })
    : [];
  const events = new Map(headers.map((each) => [each._id, each]));
  return rows.filter(({ event_id, dlq_reason, type, source }) => {
    const event = events.get(event_id ?? "");
    return [dlq_reason, type, source, event?.source, event?.subject].some((each) => each && text.test(each));
  });
}
