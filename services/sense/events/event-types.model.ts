import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** An event type that a tenant's events have had: one row a type, by `eventTypeId`. */
export interface EventTypeDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  type: t.string(),
  first_seen_at: t.date(),
  last_seen_at: t.date(),
  /** Accepted events. */
  count: t.number(),
  /** When its first sources last published it, in ms, by `toFieldName` of the source. */
  sources: t.large(t.mixed<Record<string, number>>()),
});
schema.index({ tenant_id: 1, last_seen_at: 1 });

export const EventTypeModel: Model<EventTypeDoc> = {
  erasure: { none: "types and sources of events, without their content" },
  move: { stage: 0 },
  name: "event_types",
  schema,
};

export const eventTypeId = (tenant_id: string, type: string): string => `${tenant_id} ${type}`;
