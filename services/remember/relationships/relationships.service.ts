import { type Call, callerId } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import { Fault, invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { isOwn, isStanding, requireReadable, standingMemories } from "../memories/readable.ts";
import { edgesAt, endsOf, present } from "./edges.ts";
import { readGraph } from "./graph.ts";
import { provenanceActions } from "./provenance.ts";
import { PROVENANCE_TYPES, RELATIONSHIP_TYPES, typeError } from "./registry.ts";
import * as contract from "./relationships.contract.ts";
import { edgeKey, type RelationshipDoc, RelationshipModel } from "./relationships.model.ts";

/** api: Memories. */
const DEFAULT_STRENGTH = 0.5;
const MAX_METADATA = 16_384;
/** Only ids are shown. */
const BRIEF = { brief: true };

export const relationshipsService: ServiceFactory = ({ store }) => {
  const edges = store.collection(RelationshipModel);
  const now = () => new Date(store.now());

  /** @throws Fault not_found if the memory has no such edge that the caller may see. */
  async function find(ctx: Call<{ id: string; rel_id: string }>) {
    const { id, rel_id } = ctx.params;
    const memory = await requireReadable(ctx, id);
    const edge = await edges.findOne(ctx.meta.caller.tenant_id, { _id: rel_id });
    const ends = edge ? endsOf([edge]) : [];
    const seen = ends.includes(id) && (await standingMemories(ctx, ends, store.now(), BRIEF));
    if (!edge || !seen || !ends.every((end) => end === id || seen.has(end))) {
      throw notFound("relationship", rel_id);
    }
    return { edge, source: seen.get(edge.source_memory_id) ?? memory };
  }

  return {
    name: "relationships",
    actions: {
      create: action(contract.createRelationship, async (ctx) => {
        const { id, target_memory_id, relationship_type, strength = DEFAULT_STRENGTH } = ctx.params;
        // Sequential: if both are missing, the error always names the one in the path.
        const source = await requireReadable(ctx, id);
        const target = await requireReadable(ctx, target_memory_id);
        for (const end of [source, target]) {
          if (!isStanding(end, store.now())) throw notFound("memory", end.id);
        }
        const { tenant_id } = ctx.meta.caller;
        checkEdge(id, target_memory_id, relationship_type);
        const row: RelationshipDoc = {
          _id: newId("rel", ctx.meta.idempotency_seed),
          tenant_id,
          source_memory_id: id,
          target_memory_id,
          relationship_type,
          strength,
          metadata: metadataText(ctx.params.metadata),
          created_by: callerId(ctx.meta.caller),
          created_at: now(),
          edge: edgeKey(id, target_memory_id, relationship_type),
        };
        try {
          return present(await edges.insertOnce(row));
        } catch (err) {
          if (!isDuplicateKey(err)) throw err;
          const holder = await edges.findOne(tenant_id, { edge: row.edge });
          throw new Fault("conflict", `The memories are related by ${relationship_type} already.`, {
            existing_resource_id: holder?._id ?? null,
          });
        }
      }),

      list: action(contract.listRelationships, async (ctx) => {
        const { id, offset = 0, limit = 200 } = ctx.params;
        await requireReadable(ctx, id);
        const all = await edgesAt(edges, ctx.meta.caller.tenant_id, [id]);
        const standing = await standingMemories(ctx, endsOf(all), store.now(), BRIEF);
        const shown = all.filter((edge) => endsOf([edge]).every((end) => end === id || standing.has(end)));
        const relationships = shown.slice(offset, offset + limit).map(present);
        return { relationships, count: relationships.length };
      }),

      delete: action(contract.deleteRelationship, async (ctx) => {
        const { edge, source } = await find(ctx);
        const { caller } = ctx.meta;
        if (edge.created_by === null) {
          throw new Fault("forbidden", `The service itself recorded ${edge.relationship_type}; it stays.`);
        }
        if (edge.created_by !== callerId(caller) && !isOwn(ctx, source) && !isOrgAdmin(caller)) {
          throw new Fault(
            "forbidden",
            "Only who made it, the owner of its source and org admins may remove it.",
          );
        }
        const removed = await edges.delete(caller.tenant_id, { _id: edge._id });
        if (!removed) throw notFound("relationship", edge._id);
      }),

      graph: action(contract.memoryGraph, (ctx) => {
        const { id, depth = 1, include_superseded = false } = ctx.params;
        return readGraph(ctx, edges, { id, depth, include_superseded, now: store.now() });
      }),

      types: action(contract.listRelationshipTypes, () => ({
        relationship_types: RELATIONSHIP_TYPES,
        reserved: PROVENANCE_TYPES,
        total: RELATIONSHIP_TYPES.length,
      })),

      ...provenanceActions({ edges, now }),
    },
  };
};

/** @throws Fault validation_error */
function checkEdge(source: string, target: string, type: string): void {
  const error = typeError(type);
  if (error) throw invalidValue("relationship_type", `relationship_type: ${error}`, { value: type });
  if (source === target) {
    throw invalidValue("target_memory_id", "target_memory_id: a memory is not related to itself.");
  }
}

/** @throws Fault validation_error */
function metadataText(metadata: object | null | undefined): string | null {
  if (!metadata) return null;
  const text = JSON.stringify(metadata);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_METADATA) return text;
  throw invalidValue("metadata", `metadata has ${bytes} bytes as JSON; at most ${MAX_METADATA} are kept.`);
}
