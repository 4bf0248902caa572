import type { InferSchemaType } from "mongoose";
import {
  array,
  date,
  large,
  type Model,
  mixed,
  nullable,
  number,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { TemplateStep } from "./templates.contract.ts";

/** One version of a process template. Rows are never changed (spec: Versioning 2). */
export interface TemplateDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  slug: string(),
  version_num: number(),
  name: string(),
  description: nullable(string()),
  goal_template: nullable(string()),
  steps: large(mixed<TemplateStep[]>()),
  step_count: number(),
  /** Ids in its steps' reference pointers, to find referrers. */
  pointer_ids: array(string()),
  created_at: date(),
});
// Newest of each slug first.
schema.index({ tenant_id: 1, slug: 1, version_num: -1 }, { unique: true });
schema.index({ tenant_id: 1, pointer_ids: 1 });

export const TemplateModel: Model<TemplateDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "process_templates",
  schema,
};
