import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import { positionFrom } from "./position.ts";

/**
 * An accepted event. The envelope is kept once; deliveries refer to it. `_id` holds the position, so that new events
 * come last in every index that begins with it: random keys would make each commit write a page for each of them.
 */
export interface EventDoc extends TenantDocument {
  /** The whole CloudEvent as JSON text. */
  envelope: string;
  /** Its length in bytes. */
  size: number;
  /** The producer's id. With the tenant it is the unique key that is the deduplication (spec: Events 1). */
  ce_id: string;
  type: string;
  source: string;
  subject: string | null;
  /** The agent or user that published it; null for the service itself and for ingested events. */
  publisher_id: string | null;
  accepted_at: Date;
  /** Sorts as events were accepted, and is unique: what lists are ordered and continued by. */
  position: string;
  /** Trace context of the publishing request, when the event carries none. */
  traceparent?: string;
  /** The Idempotency-Key that it came with, so that a retry after a crash is told `accepted` again. */
  seed?: string;
  /** How often the same id came again from another source. */
  duplicate_sources?: number;

  /** As long as fan-out is to be done: `<tenant> <time from which anybody may take it>`. */
  fanout_key?: string;
  /** The lease it was taken by. */
  fanout_owner?: string;
  fanout_attempts?: number;

  fanned_out_at?: Date;
  /** Receivers it was matched to. */
  matched_count?: number;
  /** `<tenant> <position>` of an event that nobody wanted. */
  unmatched_key?: string;
  /** Fan-out failed for good, and why; an admin may retry it. */
  parked_at?: Date;
  park_reason?: string;
}

const schema = new Schema<EventDoc>(
  {
    _id: String,
    tenant_id: String,
    envelope: String,
    size: Number,
    ce_id: String,
    type: String,
    source: String,
    subject: String,
    publisher_id: String,
    accepted_at: Date,
    position: String,
    traceparent: String,
    seed: String,
    duplicate_sources: Number,
    fanout_key: String,
    fanout_owner: String,
    fanout_attempts: Number,
    fanned_out_at: Date,
    matched_count: Number,
    unmatched_key: String,
    parked_at: Date,
    park_reason: String,
  },
  { versionKey: false },
);
// The id as it is: most producers count or use the time, and what they sent last stands together. A digest of it would
// dirty a page of its own for each event.
schema.index({ tenant_id: 1, ce_id: 1 }, { unique: true });
// Ascending, though lists go backwards: SQLite appends at the end of a tree without moving what is there. It holds what
// lists are narrowed by, so that passing over an event does not read it; an index for each would double the cost of
// a publish.
schema.index({ tenant_id: 1, position: 1, type: 1, source: 1, subject: 1, publisher_id: 1 });
// Sparse and of one field each, because a compound index would hold every event: the tenant is always there.
schema.index({ fanout_key: 1 }, { sparse: true });
schema.index({ unmatched_key: 1 }, { sparse: true });

export const EventModel: Model<EventDoc> = {
  name: "events",
  schema,
  apart: "envelope",
  retired: [
    "dedupe_1",
    "tenant_id_1_position_1",
    "tenant_id_1_type_1_position_1",
    "tenant_id_1_source_1_position_1",
    "tenant_id_1_subject_1_position_1",
    "tenant_id_1_publisher_id_1_position_1",
  ],
};

/** The fan-out lease key of a tenant at a time in milliseconds: text order is time order. */
export function fanoutKey(tenant_id: string, at: number): string {
  return `${tenant_id} ${positionFrom(at)}`;
}

/** Bounds of all keys of a tenant, fan-out and unmatched alike: after the first, before the second. */
export function keyRange(tenant_id: string): { after: string; before: string } {
  return { after: `${tenant_id} `, before: `${tenant_id} ~` };
}

/** The `unmatched_key` of an event that nobody wanted. */
export function unmatchedKey({ tenant_id, position }: Pick<EventDoc, "tenant_id" | "position">): string {
  return `${tenant_id} ${position}`;
}
