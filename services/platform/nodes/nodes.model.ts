import type { InferSchemaType } from "mongoose";
import type { ModesState } from "../../../observability/modes.ts";
import { date, type Model, mixed, nullable, string, tenantSchema } from "../../../storage/model.ts";

/** What the operator has set for all nodes: one row, which belongs to no tenant. */
export interface InstallationDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  maintenance: nullable(mixed<NonNullable<ModesState["maintenance"]>>()),
  log_level: nullable(string<NonNullable<ModesState["log_level"]>>()),
  updated_at: date(),
});

export const InstallationModel: Model<InstallationDoc> = {
  erasure: { none: "configuration of the installation" },
  name: "installation",
  schema,
};
