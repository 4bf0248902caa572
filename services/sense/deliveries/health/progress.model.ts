import type { InferSchemaType } from "mongoose";
import { date, type Model, mixed, optional, string, tenantSchema } from "../../../../storage/model.ts";
import type { Absence } from "./habit.ts";

/** What an agent last did with its deliveries, by the agent's id. */
export interface ProgressDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  acknowledged_at: optional(date()),
  /** `<time> <reason>` of the last failed attempt: text, so that one `$max` keeps the latest of both. */
  failure: optional(string()),
  /** When it last asked for deliveries by a poll or on a stream, give or take `STUCK_AFTER_SECONDS`. */
  asked_at: optional(date()),
  absences: optional(mixed<Absence[]>()),
});

export const ProgressModel: Model<ProgressDoc> = {
  erasure: { none: "times", owner: ["_id"] },
  move: { stage: 0 },
  name: "delivery_progress",
  schema,
};
