import type { InferSchemaType } from "mongoose";
import {
  date,
  type Model,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import { positionFrom } from "./position.ts";

/**
 * An accepted event. The envelope is kept once; deliveries refer to it. `_id` holds the position, so that new events
 * come last in every index that begins with it: random keys would make each commit write a page for each of them.
 */
export interface EventDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** The whole CloudEvent as JSON text. */
  envelope: string(),
  /** Its length in bytes. */
  size: number(),
  /** The producer's id. With the tenant it is the unique key that is the deduplication (spec: Events 1). */
  ce_id: string(),
  type: string(),
  source: string(),
  subject: nullable(string()),
  /** The agent or user that published it; null for the service itself and for ingested events. */
  publisher_id: nullable(string()),
  accepted_at: date(),
  /** Sorts as events were accepted, and is unique: what lists are ordered and continued by. */
  position: string(),
  /** Trace context of the publishing request, when the event carries none. */
  traceparent: optional(string()),
  /** The Idempotency-Key that it came with, so that a retry after a crash is told `accepted` again. */
  seed: optional(string()),
  /** How often the same id came again from another source. */
  duplicate_sources: optional(number()),

  /** As long as fan-out is to be done: `<tenant> <time from which anybody may take it>`. */
  fanout_key: optional(string()),
  /** The lease it was taken by. */
  fanout_owner: optional(string()),
  fanout_attempts: optional(number()),

  fanned_out_at: optional(date()),
  /** Receivers it was matched to. */
  matched_count: optional(number()),
  /** `<tenant> <position>` of an event that nobody wanted. */
  unmatched_key: optional(string()),
  /** Fan-out failed for good, and why; an admin may retry it. */
  parked_at: optional(date()),
  park_reason: optional(string()),
});
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
