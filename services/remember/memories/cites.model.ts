import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** That somebody found a memory useful on a day: `_id` is the three of them, so that it counts once (api: Memories). */
export interface CiteDoc extends TenantDocument {
  memory_id: string;
  /** The agent or person. */
  cited_by: string;
  /** The memory's owner. */
  owner_id: string | null;
  /** By the owner: does not rank. */
  own: boolean;
  originating_query_id: string | null;
  at: Date;
  /** Published as `memory.cited`. */
  announced: boolean;
  /** When the memory's counts are to be made again: at once, and when it no longer counts. */
  due_at: Date;
}

const schema = new Schema<CiteDoc>(
  {
    _id: String,
    tenant_id: String,
    memory_id: String,
    cited_by: String,
    owner_id: String,
    own: Boolean,
    originating_query_id: String,
    at: Date,
    announced: Boolean,
    due_at: Date,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, memory_id: 1, at: 1 });
schema.index({ tenant_id: 1, cited_by: 1, at: 1 });
schema.index({ tenant_id: 1, owner_id: 1, at: 1 });
schema.index({ due_at: 1 });

export const CiteModel: Model<CiteDoc> = { name: "memory_cites", schema };
