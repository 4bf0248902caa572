import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, number, string, tenantSchema } from "../../../storage/model.ts";

/** A whole text kept as an example; the text is stored as a blob. */
export interface ExemplarDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  display_name: string(),
  original_filename: string(),
  media_type: string<"text/markdown" | "text/plain">(),
  byte_size: number(),
  /** SHA-256: the key of the text among the blobs. */
  content_hash: string(),
  /** Set during deletion: new references are refused. */
  deleting_at: nullable(date()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, content_hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: -1, _id: -1 });

export const ExemplarModel: Model<ExemplarDoc> = {
  erasure: { none: "an example of the organisation, which its own deletion erases" },
  move: { stage: 0 },
  name: "exemplars",
  schema,
  blobs: ["content_hash"],
};
