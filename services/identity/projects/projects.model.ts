import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";
import type { ProjectStatus } from "./projects.contract.ts";

/** A project groups memories, runs and outputs (spec: Project). */
export interface ProjectDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  key: string(),
  /** The key in lower case: keys that differ only in case are easily confused. */
  folded_key: string(),
  name: string(),
  status: string<ProjectStatus>(),
  /** As given: a date, or a time. */
  target_date: nullable(string()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, folded_key: 1 }, { unique: true });
schema.index({ tenant_id: 1, status: 1, folded_key: 1 });

export const ProjectModel: Model<ProjectDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "projects",
  schema,
};
