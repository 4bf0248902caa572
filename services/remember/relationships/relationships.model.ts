import { presentAs } from "../../../lib/contract/present-as.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { Relationship } from "./relationships.contract.ts";

/** A directed edge between two memories (spec: Relationship). */
export interface RelationshipDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  source_memory_id: t.string(),
  target_memory_id: t.string(),
  relationship_type: t.string(),
  strength: t.number(),
  /** JSON: callers' keys must have no meaning in the store. */
  metadata: t.nullable(t.large(t.texts(t.json()))),
  /** The agent or user; null if the service recorded it. */
  created_by: t.nullable(t.string()),
  created_at: t.date(),
  /** Source, target and type: unique. */
  edge: t.string(),
});
schema.index({ tenant_id: 1, source_memory_id: 1, created_at: 1 });
schema.index({ tenant_id: 1, target_memory_id: 1, created_at: 1 });
schema.index({ tenant_id: 1, edge: 1 }, { unique: true });
schema.index({ tenant_id: 1, _id: 1 });

export const RelationshipModel: Model<RelationshipDoc> = {
  erasure: { memories: "relationships.erase_memories", replaced: { of: [] } },
  move: { stage: 0 },
  name: "relationships",
  ids: "rel",
  schema,
};

export function edgeKey(source: string, target: string, type: string): string {
  return `${source} ${target} ${type}`;
}

/** Formats a relationship for callers. */
export function present(row: RelationshipDoc) {
  const metadata = row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>);
  return presentAs(Relationship, row, { metadata });
}
