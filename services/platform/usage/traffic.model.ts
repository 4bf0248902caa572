import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Counts } from "./tally.ts";

/** The time that a row covers. */
export type Unit = "minute" | "hour";

/** Counts of a minute or an hour, of a tenant or of one of its agents. `_id` derives from all of these. */
export interface TrafficDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  unit: t.string<Unit>(),
  /** The beginning of the minute or hour. */
  at: t.date(),
  /** Null for the whole tenant; `other` for the agents beyond those counted by themselves. */
  agent_id: t.nullable(t.string()),
  counts: t.mixed<Counts>(),
  /** The same counts by the event's type: see `toFieldName` of lib/text/field-name.ts. */
  types: t.large(t.mixed<Record<string, Counts>>()),
});
schema.index({ tenant_id: 1, agent_id: 1, unit: 1, at: 1 });
schema.index({ unit: 1, at: 1 });
schema.index({ agent_id: 1, unit: 1, at: 1 });

export const TrafficModel: Model<TrafficDoc> = {
  erasure: { none: "counts" },
  move: { none: "counts of the installation's minutes" },
  name: "traffic",
  schema,
};

/** The minutes of an hour in which any node was counting: all others are gaps. Rows of the installation. */
export interface RecordedDoc extends DocumentOf<typeof recordedSchema> {}

const recordedSchema = tenantSchema({
  at: t.date(),
  /** 0 to 59. */
  minutes: t.array(t.number()),
});
recordedSchema.index({ at: 1 });

export const RecordedModel: Model<RecordedDoc> = {
  erasure: { none: "counts" },
  move: { none: "minutes in which the installation counted" },
  name: "traffic_recorded",
  schema: recordedSchema,
};
