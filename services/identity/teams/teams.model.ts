import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A group of agents that share what they remember. */
export interface TeamDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  name: t.string(),
  description: t.nullable(t.string()),
  created_at: t.date(),
  /** When it was deleted. Its row stays, because admins read what its agents shared; its name is then its id. */
  deleted_at: t.optional(t.date()),
});
schema.index({ tenant_id: 1, name: 1 }, { unique: true });

export const TeamModel: Model<TeamDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "teams",
  ids: "team",
  schema,
};
