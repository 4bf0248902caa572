import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, optional, string, tenantSchema } from "../../../storage/model.ts";

/** A group of agents that share what they remember. */
export interface TeamDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  name: string(),
  description: nullable(string()),
  created_at: date(),
  /** When it was deleted. Its row stays, because admins read what its agents shared; its name is then its id. */
  deleted_at: optional(date()),
});
schema.index({ tenant_id: 1, name: 1 }, { unique: true });

export const TeamModel: Model<TeamDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "teams",
  schema,
};
