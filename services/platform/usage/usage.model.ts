import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A tenant's storage use. `_id` is the tenant's. */
export interface UsageDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** Bytes at the last measurement. */
  measured: t.number(),
  /** Bytes added since, less those freed. */
  added: t.number(),
  measured_at: t.nullable(t.date()),
  /** When it is measured next; also the lease of the measuring node. */
  due_at: t.date(),
  /** The tenant's own quota in megabytes, 0 for none; absent for that of the installation. */
  quota_mb: t.optional(t.number()),
});
schema.index({ due_at: 1 });

export const UsageModel: Model<UsageDoc> = {
  erasure: { none: "counts" },
  move: { none: "measured again; the quota comes with the tenant" },
  name: "storage_usage",
  schema,
};
