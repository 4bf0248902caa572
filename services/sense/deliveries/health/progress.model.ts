import type { InferSchemaType } from "mongoose";
import { date, type Model, optional, string, tenantSchema } from "../../../../storage/model.ts";

/** What an agent last did with its deliveries, by the agent's id. */
export interface ProgressDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  acknowledged_at: optional(date()),
  /** `<time> <reason>` of the last failed attempt: text, so that one `$max` keeps the latest of both. */
  failure: optional(string()),
});

export const ProgressModel: Model<ProgressDoc> = {
  erasure: { none: "times", owner: ["_id"] },
  move: { stage: 0 },
  name: "delivery_progress",
  schema,
};
