import type { ActionSchema } from "moleculer";
import { derivedId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type EraseMemories, eraseRows } from "../../erasers.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import { type ReadableMemory, requireReadable, standingMemories } from "../memories/readable.ts";
import {
  type BareEdge,
  createEdge,
  deleteEdge,
  edgesAt,
  leadingEdges,
  listEdges,
  listEnds,
} from "./edges.ts";
import { DERIVATION_TYPES, PROVENANCE_TYPES, type ProvenanceType, RELATIONSHIP_TYPES } from "./registry.ts";
import * as contract from "./relationships.contract.ts";
import { edgeKey, present, type RelationshipDoc, RelationshipModel } from "./relationships.model.ts";

/** Edges between memories (spec: Relationship). */
export const relationshipsService: ServiceFactory = ({ store }) => {
  const edges = store.collection(RelationshipModel);

  return {
    name: "relationships",
    actions: {
      create: action(contract.createRelationship, (ctx) => createEdge(edges, store.now(), ctx)),
      list: action(contract.listRelationships, (ctx) => listEdges(edges, store.now(), ctx)),
      delete: action(contract.deleteRelationship, (ctx) => deleteEdge(edges, store.now(), ctx)),

      graph: action(contract.getMemoryGraph, (ctx) => readGraph(edges, store.now(), ctx)),

      types: action(contract.listRelationshipTypes, () => ({
        relationship_types: RELATIONSHIP_TYPES,
        reserved: PROVENANCE_TYPES,
        total: RELATIONSHIP_TYPES.length,
      })),

      leading: idempotent<{ tenant_id: string; ids: string[] }>(({ params: { tenant_id, ids } }) =>
        leadingEdges(edges, tenant_id, ids),
      ),

      ...provenanceActions(edges, () => new Date(store.now())),
    },
  };
};

const MOST_NODES = 200;
const MOST_EDGES = 1_000;
/** Nodes looked up per hop. */
const MOST_LOOKED_AT = 2_000;

/**
 * Returns what is reachable from a memory through memories that the caller may read: unreadable ones are not traversed.
 *
 * @throws Fault not_found
 */
async function readGraph(
  edges: TenantCollection<RelationshipDoc>,
  now: number,
  ctx: CallOf<typeof contract.getMemoryGraph>,
) {
  const { tenant_id } = ctx.meta.caller;
  const { id, depth = 1, include_superseded = false } = ctx.params;
  const nodes = new Map<string, ReadableMemory>([[id, await requireReadable(ctx, id)]]);
  const found = new Map<string, BareEdge>();
  let frontier = [id];
  let truncated = false;
  for (let hop = 0; hop < depth && frontier.length > 0; hop++) {
    const met = await edgesAt(edges, tenant_id, frontier);
    const beyond = [...new Set(listEnds(met))].filter((end) => !nodes.has(end));
    const memories = await standingMemories(ctx, beyond.slice(0, MOST_LOOKED_AT), now);
    const shown = [...memories.values()].filter(({ status }) => include_superseded || status === "active");
    const next = shown.slice(0, MOST_NODES - nodes.size);
    truncated ||= next.length < shown.length || beyond.length > MOST_LOOKED_AT;
    for (const memory of next) nodes.set(memory.id, memory);
    for (const edge of met) found.set(edge._id, edge);
    frontier = next.map((memory) => memory.id);
  }
  const within = [...found.values()].filter((edge) => listEnds([edge]).every((end) => nodes.has(end)));
  truncated ||= within.length > MOST_EDGES;
  const shown = within.slice(0, MOST_EDGES).map(({ _id }) => _id);
  const whole = await edges.findEach(tenant_id, shown);
  truncated ||= whole.length < shown.length;
  return { nodes: [...nodes.values()], edges: whole.map(present), truncated };
}

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
function provenanceActions(
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
    derivations: idempotent<{ tenant_id: string; ids: string[] }>(({ params: { tenant_id, ids } }) => {
      const derived = { source_memory_id: { $in: ids }, relationship_type: { $in: [...DERIVATION_TYPES] } };
      const projection = { source_memory_id: 1, target_memory_id: 1, created_by: 1 } as const;
      return edges.find(tenant_id, derived, { projection });
    }),

    /** Returns a page of a tenant's edges: only their ends. */
    page: idempotent<PageParams>(({ params: { tenant_id, after, limit } }) => {
      const projection = { source_memory_id: 1, target_memory_id: 1 } as const;
      return edges.find(tenant_id, { _id: { $gt: after } }, { sort: { _id: 1 }, limit, projection });
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
    ...{ _id: derivedId("rel", tenant_id, key), tenant_id, ...edge, edge: key },
    ...{ strength: 1, metadata: null, created_by: null, created_at },
  };
}
