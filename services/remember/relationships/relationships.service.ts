import type { Call } from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { type ReadableMemory, requireReadable, standingMemories } from "../memories/readable.ts";
import { type BareEdge, createEdge, deleteEdge, edgesAt, listEdges, listEnds } from "./edges.ts";
import { provenanceActions } from "./provenance.ts";
import { PROVENANCE_TYPES, RELATIONSHIP_TYPES } from "./registry.ts";
import * as contract from "./relationships.contract.ts";
import { present, type RelationshipDoc, RelationshipModel } from "./relationships.model.ts";

/** Edges between memories (spec: Relationship). */
export const relationshipsService: ServiceFactory = ({ store }) => {
  const edges = store.collection(RelationshipModel);

  return {
    name: "relationships",
    actions: {
      create: action(contract.createRelationship, (ctx) => createEdge(edges, store.now(), ctx)),
      list: action(contract.listRelationships, (ctx) => listEdges(edges, store.now(), ctx)),
      delete: action(contract.deleteRelationship, (ctx) => deleteEdge(edges, store.now(), ctx)),

      graph: action(contract.memoryGraph, (ctx) => {
        const { id, depth = 1, include_superseded = false } = ctx.params;
        return readGraph(ctx, edges, { id, depth, include_superseded, now: store.now() });
      }),

      types: action(contract.listRelationshipTypes, () => ({
        relationship_types: RELATIONSHIP_TYPES,
        reserved: PROVENANCE_TYPES,
        total: RELATIONSHIP_TYPES.length,
      })),

      ...provenanceActions(edges, () => new Date(store.now())),
    },
  };
};

const MOST_NODES = 200;
const MOST_EDGES = 1_000;
/** Nodes looked up per hop. */
const MOST_LOOKED_AT = 2_000;

interface Options {
  id: string;
  /** Number of hops. */
  depth: number;
  include_superseded: boolean;
  now: number;
}

/**
 * Returns what is reachable from a memory through memories that the caller may read: unreadable ones are not traversed.
 *
 * @throws Fault not_found
 */
async function readGraph(ctx: Call, edges: TenantCollection<RelationshipDoc>, options: Options) {
  const { tenant_id } = ctx.meta.caller;
  const { id, depth, include_superseded, now } = options;
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
