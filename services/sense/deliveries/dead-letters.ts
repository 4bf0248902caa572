import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { fromCursor, toCursor } from "../../../lib/contract/cursor.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import { parseExact } from "../../../lib/json/json.ts";
import type { Loop } from "../../../mixins/loop.ts";
import { tally } from "../../../storage/traffic/tally.ts";
import { discardRows } from "./dead-letter-bulk.ts";
import { findDead, placeOf, visibleAgent } from "./dead-letter-find.ts";
import { deadFields, keptReason } from "./dead-letter-state.ts";
import type { listDeadLetters } from "./dead-letters.contract.ts";
import { type DeliveryDoc, type Origin, ofEvent, upToBytes } from "./deliveries.model.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { Loaded } from "./recent-events.ts";

interface DeadLettersDeps extends DeliveryDeps {
  announcements: Pick<Loop, "nudge">;
  /** How long unmapped payloads are kept. */
  unmappedMs: number;
}

/** A payload that could not be mapped to an event. */
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

/** The dead-letter queue. */
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
    const [row, other] = await this.#deps.deliveries.find(caller.tenant_id, filter, {
      ...{ limit: 2, bounded: "two rows" },
    });
    if (!row) throw notFound("dead_letter", id);
    if (other)
      throw new Fault("conflict", `The event ${id} has several dead letters. Give the id of one of them.`);
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

  /** Keeps an unmappable payload for admins. */
  async add(unmappable: Unmappable): Promise<{ id: string }> {
    const { deliveries, store, announcements, unmappedMs } = this.#deps;
    const { tenant_id, source, payload, dedupe, origin } = unmappable;
    const at = new Date(store.now());
    const reason = keptReason(unmappable.reason);
    const payload_json = JSON.stringify(payload);
    const row = await deliveries.insertOnce({
      _id: dedupe === undefined ? newId("dlv") : derivedId("dlv", tenant_id, source, dedupe),
      tenant_id,
      agent_id: null,
      event_id: null,
      priority: 0,
      created_at: at,
      attempt_count: 0,
      size: Buffer.byteLength(payload_json),
      matched: { interest_ids: [], feed_ids: [] },
      enrichment_depth: "none",
      timeline: [{ at, what: "dead", reason }],
      ...deadFields({ tenant_id, agent_id: null, at, reason }),
      payload_json,
      source,
      retire_at: new Date(at.getTime() + unmappedMs),
      ...(origin && { origin }),
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
  return {
    id: row._id,
    event_id: row.event_id,
    agent_id: row.agent_id,
    payload,
    attempt_count: row.attempt_count,
    dlq_reason: row.dlq_reason as string,
    created_at: row.created_at.toISOString(),
    dead_lettered_at: (row.dead_lettered_at as Date).toISOString(),
    source: (row.event_id === null ? row.source : payload?.source) ?? null,
  };
}
