import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** A whole text kept as an example; the text itself is a blob. */
export interface ExemplarDoc extends TenantDocument {
  display_name: string;
  original_filename: string;
  media_type: "text/markdown" | "text/plain";
  byte_size: number;
  /** SHA-256, by which the text is found among the blobs. */
  content_hash: string;
  /** Set while it is being deleted: nothing can be made to refer to it any more. */
  deleting_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<ExemplarDoc>(
  {
    _id: String,
    tenant_id: String,
    display_name: String,
    original_filename: String,
    media_type: String,
    byte_size: Number,
    content_hash: String,
    deleting_at: Date,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, content_hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: -1, _id: -1 });

export const ExemplarModel: Model<ExemplarDoc> = { name: "exemplars", schema };
