import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { ProjectStatus } from "./projects.contract.ts";

/** What memories, runs and outputs are filed under (spec: Project). */
export interface ProjectDoc extends TenantDocument {
  key: string;
  /** The key in lower case: keys that differ only in case would be taken for one another. */
  folded_key: string;
  name: string;
  status: ProjectStatus;
  /** As it was given: a date, or a time. */
  target_date: string | null;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<ProjectDoc>(
  {
    _id: String,
    tenant_id: String,
    key: String,
    folded_key: String,
    name: String,
    status: String,
    target_date: String,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, folded_key: 1 }, { unique: true });
schema.index({ tenant_id: 1, status: 1, folded_key: 1 });

export const ProjectModel: Model<ProjectDoc> = { name: "projects", schema };
