import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { TemplateStep } from "./templates.contract.ts";

/** One version of a process template. Rows are never changed (spec: Versioning 2). */
export interface TemplateDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  slug: t.string(),
  version_num: t.number(),
  name: t.string(),
  description: t.nullable(t.string()),
  goal_template: t.nullable(t.string()),
  steps: t.large(t.mixed<TemplateStep[]>()),
  step_count: t.number(),
  /** Ids in its steps' reference pointers, to find referrers. */
  pointer_ids: t.array(t.string()),
  created_at: t.date(),
});
// Newest of each slug first.
schema.index({ tenant_id: 1, slug: 1, version_num: -1 }, { unique: true });
schema.index({ tenant_id: 1, pointer_ids: 1 });

export const TemplateModel: Model<TemplateDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "process_templates",
  ids: "uuid",
  schema,
};
