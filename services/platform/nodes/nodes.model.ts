import type { LOG_LEVELS } from "../../../lib/settings.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** The operator's settings for all nodes: one row, which belongs to no tenant. */
export interface InstallationDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  maintenance: t.nullable(t.mixed<{ reason: string | null; since: string }>()),
  log_level: t.nullable(t.string<(typeof LOG_LEVELS)[number]>()),
  updated_at: t.date(),
  /** In a row with the id `format`: see storage/format.ts. */
  format: t.optional(t.number()),
});

export const InstallationModel: Model<InstallationDoc> = {
  erasure: { none: "configuration of the installation" },
  move: { none: "configuration of the installation" },
  name: "installation",
  schema,
};
