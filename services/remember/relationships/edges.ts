import type { TenantCollection } from "../../../storage/collection.ts";
import type { RelationshipDoc } from "./relationships.model.ts";

type Edges = TenantCollection<RelationshipDoc>;

/** Edges examined per memory or hop. */
const MOST_EDGES = 2_000;
const ORDER = { created_at: 1, _id: 1 } as const;

/** Returns the edges from or to any of these memories, oldest first, each once. */
export async function edgesAt(edges: Edges, tenant_id: string, ids: string[]): Promise<RelationshipDoc[]> {
  const options = { sort: ORDER, limit: MOST_EDGES };
  const [from, to] = await Promise.all([
    edges.find(tenant_id, { source_memory_id: { $in: ids } }, options),
    edges.find(tenant_id, { target_memory_id: { $in: ids } }, options),
  ]);
  const each = new Map([...from, ...to].map((row) => [row._id, row]));
  return [...each.values()].sort(byAge).slice(0, MOST_EDGES);
}

function byAge(a: RelationshipDoc, b: RelationshipDoc): number {
  return a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1);
}

export function endsOf(edges: RelationshipDoc[]): string[] {
  return edges.flatMap(({ source_memory_id, target_memory_id }) => [source_memory_id, target_memory_id]);
}

/** Formats a relationship for callers. */
export function present(row: RelationshipDoc) {
  return {
    id: row._id,
    tenant_id: row.tenant_id,
    source_memory_id: row.source_memory_id,
    target_memory_id: row.target_memory_id,
    relationship_type: row.relationship_type,
    strength: row.strength,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
    created_at: row.created_at.toISOString(),
  };
}
