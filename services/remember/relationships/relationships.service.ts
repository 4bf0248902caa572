import { action, type ServiceFactory } from "../../runtime.ts";
import { createEdge, deleteEdge, listEdges } from "./edges.ts";
import { readGraph } from "./graph.ts";
import { provenanceActions } from "./provenance.ts";
import { PROVENANCE_TYPES, RELATIONSHIP_TYPES } from "./registry.ts";
import * as contract from "./relationships.contract.ts";
import { RelationshipModel } from "./relationships.model.ts";

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
