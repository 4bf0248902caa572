import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, number, string, tenantSchema } from "../../../storage/model.ts";

/** A whole text kept as an example; the text itself is a blob. */
export interface ExemplarDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  display_name: string(),
  original_filename: string(),
  media_type: string<"text/markdown" | "text/plain">(),
  byte_size: number(),
  /** SHA-256, by which the text is found among the blobs. */
  content_hash: string(),
  /** Set while it is being deleted: nothing can be made to refer to it any more. */
  deleting_at: nullable(date()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, content_hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: -1, _id: -1 });

export const ExemplarModel: Model<ExemplarDoc> = { name: "exemplars", schema };
