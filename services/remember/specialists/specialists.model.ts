import type { InferSchemaType } from "mongoose";
import { date, large, type Model, nullable, number, string, tenantSchema } from "../../../storage/model.ts";

/** One version of a specialist's preamble. Rows are never changed. */
export interface SpecialistDoc extends InferSchemaType<typeof specialists> {}

const specialists = tenantSchema({
  name: string(),
  version_num: number(),
  system_prompt: large(string()),
  memory_search_directives: nullable(large(string())),
  output_format_rules: nullable(large(string())),
  description: nullable(string()),
  created_at: date(),
});
// Newest of each name first.
specialists.index({ tenant_id: 1, name: 1, version_num: -1 }, { unique: true });

export const SpecialistModel: Model<SpecialistDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "specialists",
  schema: specialists,
};

/** A specialist that a caller has loaded and not unloaded. `_id` derives from both. */
interface SpecialistLoadDoc extends InferSchemaType<typeof loads> {}

const loads = tenantSchema({
  caller_id: string(),
  name: string(),
  loaded_at: date(),
});
loads.index({ tenant_id: 1, caller_id: 1 });

export const SpecialistLoadModel: Model<SpecialistLoadDoc> = {
  erasure: { none: "names of specialists that a caller loaded", owner: ["caller_id"] },
  move: { stage: 0 },
  name: "specialist_loads",
  schema: loads,
};
