import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { PROJECT_STATUSES } from "./projects.contract.ts";

/** A project groups memories, runs and outputs (spec: Project). */
export interface ProjectDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  key: t.string(),
  /** The key in lower case: keys that differ only in case are easily confused. */
  folded_key: t.string(),
  name: t.string(),
  status: t.oneOf(PROJECT_STATUSES),
  /** As given: a date, or a time. */
  target_date: t.nullable(t.string()),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ tenant_id: 1, folded_key: 1 }, { unique: true });
schema.index({ tenant_id: 1, status: 1, folded_key: 1 });

export const ProjectModel: Model<ProjectDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "projects",
  ids: "uuid",
  schema,
};
