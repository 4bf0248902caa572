import { Schema } from "mongoose";
import type { TenantDocument } from "../collection.ts";
import type { StoredModel } from "../connection.ts";

/** What a tenant stores. `_id` is the tenant's. */
export interface UsageDoc extends TenantDocument {
  /** Bytes at the last measurement. */
  measured: number;
  /** Bytes added since, less those freed. */
  added: number;
  measured_at: Date | null;
  /** When it is measured next; also the lease of the node that does. */
  due_at: Date;
  /** The tenant's own quota in megabytes, 0 for none; absent: that of the installation. */
  quota_mb?: number;
}

const schema = new Schema<UsageDoc>(
  {
    _id: String,
    tenant_id: String,
    measured: Number,
    added: Number,
    measured_at: Date,
    due_at: Date,
    quota_mb: Number,
  },
  { versionKey: false },
);
schema.index({ due_at: 1 });

export const UsageModel: StoredModel<UsageDoc> = { name: "storage_usage", schema };
