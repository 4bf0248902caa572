import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import type { Call, Caller } from "../../../lib/access/caller.ts";
import { isPlatformType, type PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { fromCursor, toCursor } from "../../../lib/contract/cursor.ts";
import { conflict, invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { defined } from "../../../lib/defined.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import { parseExact } from "../../../lib/json/json.ts";
import { account } from "../../../middlewares/audit.ts";
import { Due } from "../../../mixins/due.ts";
import type { Loop } from "../../../mixins/loop.ts";
import { requireAgent } from "../../identity/agents/find-agent.ts";
import { noteChange, tally } from "../../platform/usage/tally.ts";
import type { Loaded } from "../interests/explain.ts";
import {
  type DeadLetterFilter,
  findDead,
  type ManyParams,
  placeOf,
  SHORT,
  visibleAgent,
} from "./dead-letter-find.ts";
import { causeOf, deadFields, keptReason, NOT_DEAD } from "./dead-letter-state.ts";
import { DeadLetter, type DeadLetterNotice, type listDeadLetters } from "./dead-letters.contract.ts";
import {
  type DeliveryDeps,
  type DeliveryDoc,
  inBatches,
  type Origin,
  ofEvent,
  SHORTEST,
  timelinePush,
  upToBytes,
} from "./deliveries.model.ts";

interface DeadLettersDeps extends DeliveryDeps {
  announcements: Pick<Loop, "nudge">;
  unmappedMs: number;
}

export interface Unmappable {
  tenant_id: string;
  source: string;
  payload: unknown;
  reason: string;
  /** Identifies repeated receipts. */
  dedupe?: string;
  /** Present if another mapping could turn it into an event. */
  origin?: Origin;
}

const ORDER = "dead_lettered_at";

export class DeadLetters {
  readonly #deps: DeadLettersDeps;

  constructor(deps: DeadLettersDeps) {
    this.#deps = deps;
  }

  /** @param id of the delivery, or of its event. @throws Fault not_found, conflict if an event has several */
  async find(caller: Caller, id: string): Promise<DeliveryDoc> {
    const agent_id = visibleAgent(caller);
    const which = id.startsWith("evt_") ? ofEvent(id) : { _id: id };
    const filter = { ...which, state: "dead" as const, ...(agent_id && { agent_id }) };
    const options = { limit: 2, bounded: "two rows" };
    const [row, other] = await this.#deps.deliveries.find(caller.tenant_id, filter, options);
    if (!row) throw notFound("dead_letter", id);
    if (other) throw conflict(`The event ${id} has several dead letters. Give the id of one of them.`);
    return row;
  }

  /** Lists a page of dead letters, latest first. The page is cut at the size of one answer. */
  async list(caller: Caller, { limit = 50, cursor, ...filter }: ParamsOf<typeof listDeadLetters>) {
    const after = cursor === undefined ? undefined : fromCursor(cursor, ORDER);
    const { tenant_id } = caller;
    const { rows, next } = await findDead(this.#deps, caller, filter, { after, limit });
    const page = upToBytes(rows);
    const [envelopes, payloads] = await Promise.all([
      loadEnvelopes(this.#deps.broker, tenant_id, page),
      this.#loadPayloads(tenant_id, page),
    ]);
    const items = page.map((row) => present(row, envelopes.get(row.event_id ?? "") ?? payloads.get(row._id)));
    const place = page.length < rows.length ? placeOf(page.at(-1) as DeliveryDoc) : next;
    return { items, count: items.length, next_cursor: place && toCursor(ORDER, place) };
  }

  /** Discards a dead letter. If it has an event, a row remains, so that no replay delivers it again. */
  async discard(caller: Caller, id: string): Promise<void> {
    await discardRows(this.#deps, caller.tenant_id, [await this.find(caller, id)]);
  }

  async add(unmappable: Unmappable): Promise<{ id: string }> {
    const { deliveries, store, announcements, unmappedMs } = this.#deps;
    const { tenant_id, source, payload, dedupe, origin } = unmappable;
    const at = new Date(store.now());
    const reason = keptReason(unmappable.reason);
    const payload_json = JSON.stringify(payload);
    const row = await deliveries.insertOnce({
      _id: dedupe === undefined ? newId("dlv") : derivedId("dlv", tenant_id, source, dedupe),
      ...{ tenant_id, agent_id: null, event_id: null, created_at: at, priority: 0, attempt_count: 0 },
      ...{ payload_json, size: Buffer.byteLength(payload_json), source, ...(origin && { origin }) },
      ...{ matched: { interest_ids: [], feed_ids: [] }, enrichment_depth: "none" },
      timeline: [{ at, what: "dead", reason }],
      ...deadFields({ tenant_id, agent_id: null, at, reason }),
      retire_at: new Date(at.getTime() + unmappedMs),
    });
    if (row.dead_lettered_at === at) tally({ tenant_id }, "dead_lettered", 1);
    announcements.nudge();
    return { id: row._id };
  }

  /** Returns a payload that could not be mapped; undefined if it was discarded or replayed. */
  async unmappedPayload(tenant_id: string, id: string): Promise<unknown> {
    const json = (await this.#loadPayloads(tenant_id, [{ _id: id, event_id: null }])).get(id);
    return json === undefined ? undefined : parseExact(json);
  }

  /** Loads the payloads, as JSON text by row id, of rows that never were an event. */
  async #loadPayloads(
    tenant_id: string,
    rows: Pick<DeliveryDoc, "_id" | "event_id">[],
  ): Promise<Map<string, string | undefined>> {
    const ids = rows.filter(({ event_id }) => event_id === null).map(({ _id }) => _id);
    if (ids.length === 0) return new Map();
    const options = { projection: { payload_json: 1 }, bounded: "sizes were added up (upToBytes)" };
    const found = await this.#deps.deliveries.find(tenant_id, { _id: { $in: ids } }, options);
    return new Map(found.map(({ _id, payload_json }) => [_id, payload_json]));
  }
}

/** Loads the events of rows as JSON text, by event id; expired ones are missing. */
export async function loadEnvelopes(
  broker: ServiceBroker,
  tenant_id: string,
  rows: Pick<DeliveryDoc, "event_id">[],
): Promise<Map<string, string>> {
  const event_ids = [...new Set(rows.flatMap(({ event_id }) => event_id ?? []))];
  if (event_ids.length === 0) return new Map();
  const events = await broker.call<Loaded[], unknown>("events.load", { tenant_id, event_ids });
  return new Map(events.map(({ event_id, envelope }) => [event_id, envelope]));
}

/** @param json the event, or the unmapped payload; undefined if expired */
function present(row: DeliveryDoc, json: string | undefined) {
  const payload = json === undefined ? null : parseExact(json);
  const source = (row.event_id === null ? row.source : payload?.source) ?? null;
  const dead_lettered_at = toTimestamp(row);
  const dlq_reason = row.dlq_reason as string;
  return presentAs(DeadLetter, row, { payload, source, dead_lettered_at, dlq_reason });
}

type Eligible = (row: DeliveryDoc) => boolean;

/** Limit of dead letters chosen by one bulk request, or counted. */
const MAX_CHOSEN = 10_000;
const MAX_GROUPS = 100;
const WRITE_ROWS = 500;

/**
 * Returns the dead letters that a bulk request selects, and whether there are others. `isEligible` leaves out some.
 *
 * @throws Fault forbidden; validation_error unless it has either ids or a filter; not_found for an unknown agent
 */
export async function chooseDead(
  deps: DeliveryDeps,
  ctx: Call<ManyParams>,
  isEligible: Eligible = () => true,
) {
  const { caller } = ctx.meta;
  const { ids, dry_run: _, ...filter } = ctx.params;
  const agent_id = visibleAgent(caller);
  const isFiltered = Object.keys(defined(filter)).length > 0;
  if ((ids !== undefined) === isFiltered) {
    const expected = "either ids or a filter (reason, cause, agent_id, type, text, until)";
    throw invalidValue("ids", `The request: expected ${expected}, got ${ids ? "both" : "neither"}.`);
  }
  if (!ids) {
    const chosen = await chooseMatching(deps, caller, filter, isEligible);
    // A deleted agent may have left dead letters: one is unknown only if there are none either.
    if (filter.agent_id !== undefined && chosen.chosen.length === 0) await requireAgent(ctx, filter.agent_id);
    return chosen;
  }
  const named = { _id: { $in: ids }, state: "dead" as const, ...(agent_id && { agent_id }) };
  const rows = await deps.deliveries.find(caller.tenant_id, named, SHORT);
  return { chosen: rows.filter(isEligible), more: false };
}

async function chooseMatching(
  deps: DeliveryDeps,
  caller: Caller,
  filter: DeadLetterFilter,
  isEligible?: Eligible,
) {
  const wanted = { limit: MAX_CHOSEN, windows: Number.POSITIVE_INFINITY, ...(isEligible && { isEligible }) };
  const { rows, next } = await findDead(deps, caller, filter, wanted);
  return { chosen: rows, more: next !== null };
}

export async function countGroups(deps: DeliveryDeps, caller: Caller, filter: DeadLetterFilter) {
  const { chosen, more } = await chooseMatching(deps, caller, filter);
  const groups = [...Map.groupBy(chosen, ({ dlq_reason = "" }) => causeOf(dlq_reason))]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, MAX_GROUPS)
    .map(([cause, rows]) => ({
      cause,
      dlq_reason: rows[0]?.dlq_reason as string,
      count: rows.length,
      agents: new Set(rows.flatMap(({ agent_id }) => agent_id ?? [])).size,
      // They are found latest first.
      latest_at: toTimestamp(rows[0] as DeliveryDoc),
    }));
  return { groups, total: chosen.length, more };
}

const toTimestamp = ({ dead_lettered_at }: DeliveryDoc) => (dead_lettered_at as Date).toISOString();

/** Answers a bulk request, its reasons most frequent first; its audit entry gets the count. */
export function answerMany(ctx: Call<ManyParams>, chosen: DeliveryDoc[], more: boolean) {
  const dry_run = ctx.params.dry_run === true;
  account(ctx, { count: chosen.length, dry_run });
  const groups = [...Map.groupBy(chosen, ({ dlq_reason = "" }) => dlq_reason)]
    .map(([dlq_reason, { length: count }]) => ({ dlq_reason, count }))
    .sort((a, b) => b.count - a.count);
  return { status: dry_run ? "dry_run" : "accepted", count: chosen.length, groups, more };
}

/** Discards dead letters. If one has an event, its row remains, so that no replay delivers it again. */
export async function discardMany(deps: DeliveryDeps, ctx: Call<ManyParams>) {
  const { chosen, more } = await chooseDead(deps, ctx);
  if (!ctx.params.dry_run) await discardRows(deps, ctx.meta.caller.tenant_id, chosen);
  return answerMany(ctx, chosen, more);
}

async function discardRows({ deliveries, store }: DeliveryDeps, tenant_id: string, rows: DeliveryDoc[]) {
  const entry = { at: new Date(store.now()), what: "discarded" as const };
  const change = { $set: { state: "discarded" as const }, $unset: NOT_DEAD, $push: timelinePush(entry) };
  const isUnmapped = ({ event_id }: DeliveryDoc) => (event_id === null ? "unmapped" : "kept");
  const { kept = [], unmapped = [] } = Object.groupBy(rows, isUnmapped);
  for (const filter of byRows(kept)) await deliveries.updateMany(tenant_id, filter, change);
  for (const filter of byRows(unmapped)) await deliveries.deleteMany(tenant_id, filter);
  noteChange(tenant_id);
}

/** Returns filters of the rows that are still dead, for one write each. */
export function byRows(rows: Pick<DeliveryDoc, "_id">[]) {
  const count = Math.ceil(rows.length / WRITE_ROWS);
  return Array.from({ length: count }, (_, i) => ({
    _id: { $in: rows.slice(i * WRITE_ROWS, (i + 1) * WRITE_ROWS).map(({ _id }) => _id) },
    state: "dead" as const,
  }));
}

/** Rows that are announced at a time. */
const ANNOUNCED = 100;

/** Publishes `service.delivery.dead_lettered` for dead rows and clears their mark; repeated after a crash it adds nothing. */
export function newAnnouncements(deps: DeliveryDeps): () => Promise<boolean> {
  const asking = { rows: deps.deliveries, by: "announce_at", now: deps.store.now } as const;
  const due = new Due({ ...asking, batch: ANNOUNCED, projection: SHORTEST });
  return () =>
    due.work(async (tenant_id, rows) => {
      for (const batch of inBatches(rows)) await announceBatch(deps, tenant_id, batch);
    });
}

async function announceBatch(deps: DeliveryDeps, tenant_id: string, rows: DeliveryDoc[]): Promise<void> {
  const { broker, deliveries } = deps;
  const envelopes = await loadEnvelopes(broker, tenant_id, rows);
  await Promise.all(rows.map((row) => announce(broker, row, envelopes.get(row.event_id ?? ""))));
  for (const [announce_at, same] of Map.groupBy(rows, (row) => row.announce_at?.getTime() as number)) {
    // Clear only announced marks: a row that was replayed and dead-lettered again meanwhile has another time.
    const guard = { _id: { $in: same.map(({ _id }) => _id) }, announce_at: new Date(announce_at) };
    await deliveries.updateMany(tenant_id, guard, { $unset: { announce_at: 1 } });
  }
}

async function announce(broker: ServiceBroker, row: DeliveryDoc, envelope?: string): Promise<void> {
  // Never announce a dead-lettered announcement: it would loop.
  if (envelope !== undefined && isPlatformType(JSON.parse(envelope).type)) return;
  const { _id, tenant_id, event_id, agent_id, attempt_count, dead_lettered_at } = row;
  const dlq_reason = row.dlq_reason as string;
  const dead = { delivery_id: _id, event_id, agent_id, attempt_count, dlq_reason };
  await broker.call("events.emit", {
    tenant_id,
    type: "service.delivery.dead_lettered" satisfies PlatformEventType,
    subject: _id,
    data: dead satisfies Static<typeof DeadLetterNotice>,
    dedupe: `${_id} ${dead_lettered_at?.getTime()}`,
  });
}
