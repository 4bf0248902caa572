import type { ActionSchema } from "moleculer";
import { derivedId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { idempotent } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { DERIVATION_TYPES, type ProvenanceType } from "./registry.ts";
import { edgeKey, type RelationshipDoc } from "./relationships.model.ts";

interface Parts {
  edges: TenantCollection<RelationshipDoc>;
  now(): Date;
}

interface ProvenanceEdge {
  source_memory_id: string;
  target_memory_id: string;
  relationship_type: ProvenanceType;
}

interface PageParams {
  tenant_id: string;
  /** The id of the last edge of the page before; "" at the beginning. */
  after: string;
  limit: number;
}

/** The part of the relationships service that other services use. */
export function provenanceActions({ edges, now }: Parts): Record<string, ActionSchema> {
  return {
    /** Records where memories come from; what is recorded already stays as it is. */
    record_provenance: idempotent<{ tenant_id: string; edges: ProvenanceEdge[] }>(
      async ({ params: { tenant_id, edges: given } }) => {
        if (given.length) await edges.insertMissing(given.map((each) => toRow(tenant_id, each, now())));
      },
    ),

    /** The edges by which these memories were made of others. */
    derivations: idempotent<{ tenant_id: string; ids: string[] }>(async ({ params: { tenant_id, ids } }) => {
      const rows = await edges.find(tenant_id, {
        source_memory_id: { $in: ids },
        relationship_type: { $in: [...DERIVATION_TYPES] },
      });
      return rows.map(({ source_memory_id, target_memory_id, created_by }) => ({
        source_memory_id,
        target_memory_id,
        created_by,
      }));
    }),

    /** All edges of a tenant, by the page: only their ends. */
    page: idempotent<PageParams>(async ({ params: { tenant_id, after, limit } }) => {
      const projection = { source_memory_id: 1, target_memory_id: 1 };
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

    /** Removes all edges of memories that are erased; says how many. */
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
