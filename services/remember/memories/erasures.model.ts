import type { InferSchemaType } from "mongoose";
import { array, date, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";

/** An erasure that is under way: one that a crash cut off is finished from here. Gone when nothing is left. */
export interface MemoryErasureDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** JSON of an `EraseTarget`; null when only the files are left to be scrubbed. */
  target: nullable(string()),
  /** JSON: how the audit log calls the target. */
  by: string(),
  /** Memories whose rows may be deleted already, but not all that is kept of them. */
  batch: array(string()),
  begun_at: date(),
  /** Until then whoever began is carrying it out. */
  lease_ends_at: date(),
});
schema.index({ lease_ends_at: 1 });

export const MemoryErasureModel: Model<MemoryErasureDoc> = { name: "memory_erasures", schema };
