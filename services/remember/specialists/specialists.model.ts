import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** One version of a specialist's preamble. Rows are never changed. */
export interface SpecialistDoc extends TenantDocument {
  name: string;
  version_num: number;
  system_prompt: string;
  memory_search_directives: string | null;
  output_format_rules: string | null;
  description: string | null;
  created_at: Date;
}

const specialists = new Schema<SpecialistDoc>(
  {
    _id: String,
    tenant_id: String,
    name: String,
    version_num: Number,
    system_prompt: String,
    memory_search_directives: String,
    output_format_rules: String,
    description: String,
    created_at: Date,
  },
  { versionKey: false },
);
// The newest of each name first.
specialists.index({ tenant_id: 1, name: 1, version_num: -1 }, { unique: true });

export const SpecialistModel: Model<SpecialistDoc> = { name: "specialists", schema: specialists };

/** Who has loaded a specialist and not unloaded it. `_id` derives from both. */
interface SpecialistLoadDoc extends TenantDocument {
  caller_id: string;
  name: string;
  loaded_at: Date;
}

const loads = new Schema<SpecialistLoadDoc>(
  { _id: String, tenant_id: String, caller_id: String, name: String, loaded_at: Date },
  { versionKey: false },
);
loads.index({ tenant_id: 1, caller_id: 1 });

export const SpecialistLoadModel: Model<SpecialistLoadDoc> = { name: "specialist_loads", schema: loads };
