import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** An erasure that is under way: one that a crash cut off is finished from here. Gone when nothing is left. */
export interface MemoryErasureDoc extends TenantDocument {
  /** JSON of an `EraseTarget`; null when only the files are left to be scrubbed. */
  target: string | null;
  /** JSON: how the audit log calls the target. */
  by: string;
  /** Memories whose rows may be deleted already, but not all that is kept of them. */
  batch: string[];
  begun_at: Date;
  /** Until then whoever began is carrying it out. */
  lease_ends_at: Date;
}

const schema = new Schema<MemoryErasureDoc>(
  {
    _id: String,
    tenant_id: String,
    target: String,
    by: String,
    batch: [String],
    begun_at: Date,
    lease_ends_at: Date,
  },
  { versionKey: false },
);
schema.index({ lease_ends_at: 1 });

export const MemoryErasureModel: Model<MemoryErasureDoc> = { name: "memory_erasures", schema };
