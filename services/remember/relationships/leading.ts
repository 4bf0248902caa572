import type { TenantCollection } from "../../../storage/collection.ts";
import type { LeadingEdge } from "../memories/related.ts";
import { RELATIONSHIP_TYPES } from "./registry.ts";
import type { RelationshipDoc } from "./relationships.model.ts";

/** These say which of two memories holds, so that the other answers nothing. */
const INSTEAD = ["contradicts", "supersedes", "superseded_by", "corrects", "corrected_by"];
const LEADING = RELATIONSHIP_TYPES.map(({ name }) => name).filter((name) => !INSTEAD.includes(name));
/** A memory with more relationships says little about any of them. */
const MOST_OF_ONE = 8;
const MOST_READ = 50;

/** Returns the relationships by which memories lead to others, in both directions. */
export async function leadingEdges(
  edges: TenantCollection<RelationshipDoc>,
  tenant_id: string,
  ids: string[],
): Promise<LeadingEdge[]> {
  const relationship_type = { $in: LEADING };
  const options = { limit: MOST_READ, projection: { metadata: 0 } as const };
  const [out, back] = await Promise.all([
    edges.find(tenant_id, { source_memory_id: { $in: ids }, relationship_type }, options),
    edges.find(tenant_id, { target_memory_id: { $in: ids }, relationship_type }, options),
  ]);
  const common = ({ relationship_type: type, strength }: RelationshipDoc) => ({ type, strength });
  const all = [
    ...out.map((row) => ({ from: row.source_memory_id, to: row.target_memory_id, ...common(row) })),
    ...back.map((row) => ({ from: row.target_memory_id, to: row.source_memory_id, ...common(row) })),
  ];
  return [...Map.groupBy(all, ({ from }) => from).values()].flatMap((own) =>
    own.length <= MOST_OF_ONE ? own : [],
  );
}
