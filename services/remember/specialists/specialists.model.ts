import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** One version of a specialist's preamble. Rows are never changed. */
export interface SpecialistDoc extends DocumentOf<typeof specialists> {}

const specialists = tenantSchema({
  name: t.string(),
  version_num: t.number(),
  system_prompt: t.large(t.string()),
  memory_search_directives: t.nullable(t.large(t.string())),
  output_format_rules: t.nullable(t.large(t.string())),
  description: t.nullable(t.string()),
  created_at: t.date(),
});
// Newest of each name first.
specialists.index({ tenant_id: 1, name: 1, version_num: -1 }, { unique: true });

export const SpecialistModel: Model<SpecialistDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "specialists",
  ids: "uuid",
  schema: specialists,
};

/** A specialist that a caller has loaded and not unloaded. `_id` derives from both. */
interface SpecialistLoadDoc extends DocumentOf<typeof loads> {}

const loads = tenantSchema({
  caller_id: t.string(),
  name: t.string(),
  loaded_at: t.date(),
});
loads.index({ tenant_id: 1, caller_id: 1 });

export const SpecialistLoadModel: Model<SpecialistLoadDoc> = {
  erasure: { none: "names of specialists that a caller loaded", owner: ["caller_id"] },
  move: { stage: 0 },
  name: "specialist_loads",
  schema: loads,
};
