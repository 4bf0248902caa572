import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A whole text kept as an example; the text is stored as a blob. */
export interface ExemplarDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  display_name: t.text(),
  original_filename: t.text(),
  media_type: t.oneOf(["text/markdown", "text/plain"]),
  byte_size: t.number(),
  /** SHA-256: the key of the text among the blobs. */
  content_hash: t.string(),
  /** Absent in rows of older versions. */
  created_by: t.optional(t.string()),
  /** Set during deletion: new references are refused. */
  deleting_at: t.nullable(t.date()),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ tenant_id: 1, content_hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: -1, _id: -1 });

export const ExemplarModel: Model<ExemplarDoc> = {
  erasure: { replaced: { of: [], by: { created_by: "all" }, size: "byte_size" } },
  move: { stage: 0 },
  name: "exemplars",
  ids: "uuid",
  schema,
  blobs: ["content_hash"],
};
