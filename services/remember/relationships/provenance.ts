import type { ActionSchema } from "moleculer";
import { derivedId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { idempotent } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { DERIVATION_TYPES, type ProvenanceType } from "./registry.ts";
import { edgeKey, type RelationshipDoc } from "./relationships.model.ts";

interface ProvenanceEdge {
  source_memory_id: string;
  target_memory_id: string;
  relationship_type: ProvenanceType;
}

interface PageParams {
  tenant_id: string;
  /** The id of the previous page's last edge; "" for the first page. */
  after: string;
  limit: number;
}

/** Actions for other services. */
export function provenanceActions(
  edges: TenantCollection<RelationshipDoc>,
  now: () => Date,
): Record<string, ActionSchema> {
  return {
    /** Records the sources of memories; existing records stay unchanged. */
    record_provenance: idempotent<{ tenant_id: string; edges: ProvenanceEdge[] }>(
      async ({ params: { tenant_id, edges: given } }) => {
        if (given.length) await edges.insertMissing(given.map((each) => toRow(tenant_id, each, now())));
      },
    ),

    /** Returns the edges to the memories that these were derived from. */
    derivations: idempotent<{ tenant_id: string; ids: string[] }>(async ({ params: { tenant_id, ids } }) => {
      const derived = { source_memory_id: { $in: ids }, relationship_type: { $in: [...DERIVATION_TYPES] } };
      const projection = { source_memory_id: 1, target_memory_id: 1, created_by: 1 } as const;
      const rows = await edges.find(tenant_id, derived, { projection });
      return rows.map(({ source_memory_id, target_memory_id, created_by }) => ({
        source_memory_id,
        target_memory_id,
        created_by,
      }));
    }),

    /** Returns a page of a tenant's edges: only their ends. */
    page: idempotent<PageParams>(async ({ params: { tenant_id, after, limit } }) => {
      const projection = { source_memory_id: 1, target_memory_id: 1 } as const;
      const rows = await edges.find(
        tenant_id,
        { _id: { $gt: after } },
        { sort: { _id: 1 }, limit, projection },
      );
      return rows.map(({ _id, source_memory_id, target_memory_id }) => ({
        id: _id,
        source_memory_id,
        target_memory_id,
      }));
    }),

    /** Removes all edges of erased memories; returns how many. */
    erase_memories: idempotent<EraseMemories>(async ({ params }) => {
      const at = { $in: params.ids };
      const ends = [{ source_memory_id: at }, { target_memory_id: at }];
      return { relationships: await eraseRows(edges, params, ...ends) };
    }),
  };
}

function toRow(tenant_id: string, edge: ProvenanceEdge, created_at: Date): RelationshipDoc {
  const { source_memory_id, target_memory_id, relationship_type } = edge;
  const key = edgeKey(source_memory_id, target_memory_id, relationship_type);
  return {
    _id: derivedId("rel", tenant_id, key),
    tenant_id,
    source_memory_id,
    target_memory_id,
    relationship_type,
    strength: 1,
    metadata: null,
    created_by: null,
    created_at,
    edge: key,
  };
}
