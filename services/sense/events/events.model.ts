import type { ServiceBroker } from "moleculer";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { fanoutKey, listKey } from "./position.ts";

/**
 * An accepted event. The envelope is stored once; deliveries refer to it. `_id` contains the position, so that new
 * events come last in every index that starts with it: with random keys, each commit would write one page per key.
 */
export interface EventDoc extends DocumentOf<typeof schema> {}

/** Attributes that say what an event is, and not what it says. */
const ATTRIBUTES = ["specversion", "id", "source", "type", "time", "datacontenttype", "dataschema"];

const schema = tenantSchema({
  /** The whole CloudEvent as JSON text. */
  envelope: t.large(t.textsBut(t.texts(t.json(), "dlq_reason"), ...ATTRIBUTES)),
  /** Its length in bytes. */
  size: t.number(),
  /** The producer's id. With the tenant it is the unique key for deduplication (spec: Events 1). */
  ce_id: t.string(),
  type: t.string(),
  source: t.string(),
  subject: t.nullable(t.text()),
  /** The agent or user that published it; null for the service's own and for ingested events. */
  publisher_id: t.nullable(t.string()),
  accepted_at: t.date(),
  /** Unique, in order of acceptance: sort key and cursor of lists. */
  position: t.string(),
  /** Trace context of the publishing request, if the event has none. */
  traceparent: t.optional(t.string()),
  /** Its Idempotency-Key, so that a retry after a crash gets `accepted` again. */
  seed: t.optional(t.string()),
  /** How often the same id was repeated by another source. */
  duplicate_sources: t.optional(t.number()),

  /** When it may be fanned out at the earliest, if that was later than its acceptance. */
  not_before: t.optional(t.date()),
  /** The same while it waits; and `<tenant> <position>`, for lists of waiting events. */
  due_at: t.optional(t.date()),
  waiting_key: t.optional(t.string()),

  /** While fan-out is pending: `<tenant> <time from which any node may claim it>`. */
  fanout_key: t.optional(t.string()),
  fanout_owner: t.optional(t.string()),
  fanout_attempts: t.optional(t.number()),

  fanned_out_at: t.optional(t.date()),
  /** Receivers it was matched to. */
  matched_count: t.optional(t.number()),
  /** `<tenant> <position>` of an event without receivers. */
  unmatched_key: t.optional(t.string()),
  /** When fan-out failed permanently, and why; an admin may retry it. */
  parked_at: t.optional(t.date()),
  park_reason: t.optional(t.string()),
});
// The raw id: most producers count or use the time, so recent ids are adjacent. A digest would dirty one page per
// event.
schema.index({ tenant_id: 1, ce_id: 1 }, { unique: true });
// Ascending, though lists go backwards: SQLite then appends to the tree without moving entries. Contains the fields
// that lists filter by, so that skipping an event does not read it; one index per field would double the cost of a
// publish.
schema.index({ tenant_id: 1, position: 1, type: 1, source: 1, subject: 1, publisher_id: 1 });
// Sparse and of one field each: a compound index would hold every event, because every event has a tenant.
schema.index({ fanout_key: 1 }, { sparse: true });
schema.index({ unmatched_key: 1 }, { sparse: true });
schema.index({ waiting_key: 1 }, { sparse: true });
schema.index({ due_at: 1 }, { sparse: true });
schema.index({ parked_at: 1 }, { sparse: true });

export const EventModel: Model<EventDoc> = {
  erasure: {
    replaced: {
      of: [],
      within: { type: "service.delivery.dead_lettered" },
      last: true,
      forget: "events.forget_recent",
    },
  },
  erased: ({ envelope }) => ({ size: Buffer.byteLength(envelope) }),
  move: { stage: 2 },
  anew: (row, now) => ({
    fanout_owner: undefined,
    ...(row.fanout_key && { fanout_key: fanoutKey(row.tenant_id, now.getTime()) }),
    ...(row.unmatched_key && { unmatched_key: listKey(row) }),
    ...(row.waiting_key && { waiting_key: listKey(row) }),
  }),
  name: "events",
  ids: "evt",
  schema,
  packed: true,
};

export interface Publication {
  event: CloudEvent;
  row: EventDoc;
}

export interface EventDeps {
  broker: ServiceBroker;
  store: Store;
  events: TenantCollection<EventDoc>;
}
