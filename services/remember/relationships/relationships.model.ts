import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** A directed edge between two memories (spec: Relationship). */
export interface RelationshipDoc extends TenantDocument {
  source_memory_id: string;
  target_memory_id: string;
  relationship_type: string;
  strength: number;
  /** JSON text: no key of a caller's can hurt a store. */
  metadata: string | null;
  /** The agent or user; null for what the service recorded. */
  created_by: string | null;
  created_at: Date;
  /** Source, target and type: an edge of a type is there once. */
  edge: string;
}

const schema = new Schema<RelationshipDoc>(
  {
    _id: String,
    tenant_id: String,
    source_memory_id: String,
    target_memory_id: String,
    relationship_type: String,
    strength: Number,
    metadata: String,
    created_by: String,
    created_at: Date,
    edge: String,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, source_memory_id: 1, created_at: 1 });
schema.index({ tenant_id: 1, target_memory_id: 1, created_at: 1 });
schema.index({ tenant_id: 1, edge: 1 }, { unique: true });
schema.index({ tenant_id: 1, _id: 1 });

export const RelationshipModel: Model<RelationshipDoc> = { name: "relationships", schema };

export function edgeKey(source: string, target: string, type: string): string {
  return `${source} ${target} ${type}`;
}
