import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { TemplateStep } from "./templates.contract.ts";

/** One version of a process template. Rows are never changed (spec: Versioning 2). */
export interface TemplateDoc extends TenantDocument {
  slug: string;
  version_num: number;
  name: string;
  description: string | null;
  goal_template: string | null;
  steps: TemplateStep[];
  step_count: number;
  /** What its steps' reference pointers name, so that who is pointed to can be found. */
  pointer_ids: string[];
  created_at: Date;
}

const schema = new Schema<TemplateDoc>(
  {
    _id: String,
    tenant_id: String,
    slug: String,
    version_num: Number,
    name: String,
    description: String,
    goal_template: String,
    steps: { type: Schema.Types.Mixed },
    step_count: Number,
    pointer_ids: [String],
    created_at: Date,
  },
  { versionKey: false },
);
// The newest of each slug first.
schema.index({ tenant_id: 1, slug: 1, version_num: -1 }, { unique: true });
schema.index({ tenant_id: 1, pointer_ids: 1 });

export const TemplateModel: Model<TemplateDoc> = { name: "process_templates", schema };
