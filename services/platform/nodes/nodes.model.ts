import type { InferSchemaType } from "mongoose";
import type { LOG_LEVELS } from "../../../lib/settings.ts";
import { date, type Model, mixed, nullable, string, tenantSchema } from "../../../storage/model.ts";

/** What the operator has set for all nodes: one row, which belongs to no tenant. */
export interface InstallationDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  maintenance: nullable(mixed<{ reason: string | null; since: string }>()),
  log_level: nullable(string<(typeof LOG_LEVELS)[number]>()),
  updated_at: date(),
});

export const InstallationModel: Model<InstallationDoc> = {
  erasure: { none: "configuration of the installation" },
  move: { none: "configuration of the installation" },
  name: "installation",
  schema,
};
