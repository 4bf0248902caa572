import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";
import type { ProjectStatus } from "./projects.contract.ts";

/** What memories, runs and outputs are filed under (spec: Project). */
export interface ProjectDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  key: string(),
  /** The key in lower case: keys that differ only in case would be taken for one another. */
  folded_key: string(),
  name: string(),
  status: string<ProjectStatus>(),
  /** As it was given: a date, or a time. */
  target_date: nullable(string()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, folded_key: 1 }, { unique: true });
schema.index({ tenant_id: 1, status: 1, folded_key: 1 });

export const ProjectModel: Model<ProjectDoc> = { name: "projects", schema };
