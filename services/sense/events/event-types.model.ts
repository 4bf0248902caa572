import type { InferSchemaType } from "mongoose";
import { date, large, type Model, mixed, number, string, tenantSchema } from "../../../storage/model.ts";

/** An event type that a tenant's events have had: one row a type, by `eventTypeId`. */
export interface EventTypeDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  type: string(),
  first_seen_at: date(),
  last_seen_at: date(),
  /** Accepted events. */
  count: number(),
  /** When its first sources last published it, in ms, by `toFieldName` of the source. */
  sources: large(mixed<Record<string, number>>()),
});
schema.index({ tenant_id: 1, last_seen_at: 1 });

export const EventTypeModel: Model<EventTypeDoc> = {
  erasure: { none: "types and sources of events, without their content" },
  move: { stage: 0 },
  name: "event_types",
  schema,
};

export const eventTypeId = (tenant_id: string, type: string): string => `${tenant_id} ${type}`;
