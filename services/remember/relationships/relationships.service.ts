import type { ActionSchema } from "moleculer";
import { type Call, callerId } from "../../../lib/access/caller.ts";
import { isOrgAdmin } from "../../../lib/access/visibility.ts";
import { conflict, forbidden, invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { metadataText } from "../../../lib/contract/metadata.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import { type EraseMemories, eraseRows } from "../../erasers.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import {
  isOwn,
  isStanding,
  type ReadableMemory,
  requireReadable,
  standingMemories,
} from "../memories/readable.ts";
import type { LeadingEdge } from "../memories/related.ts";
import {
  DERIVATION_TYPES,
  PROVENANCE_TYPES,
  type ProvenanceType,
  RELATIONSHIP_TYPES,
  typeError,
} from "./registry.ts";
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
  const byId = new Map<string, BareEdge>();
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
    for (const edge of met) byId.set(edge._id, edge);
    frontier = next.map((memory) => memory.id);
  }
  const within = [...byId.values()].filter((edge) => listEnds([edge]).every((end) => nodes.has(end)));
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

type Edges = TenantCollection<RelationshipDoc>;

/** api: Memories. */
const DEFAULT_STRENGTH = 0.5;
const MAX_METADATA = 16_384;
/** Edges examined per memory or hop. */
const MOST_OF_MEMORY = 2_000;
const ORDER = { created_at: 1, _id: 1 } as const;
/** Only ids are shown. */
const BRIEF = { brief: true };

/** @throws Fault not_found, validation_error, conflict */
async function createEdge(edges: Edges, now: number, ctx: CallOf<typeof contract.createRelationship>) {
  const { id, target_memory_id, relationship_type, strength = DEFAULT_STRENGTH } = ctx.params;
  // Sequential: if both are missing, the error always names the one in the path.
  const source = await requireReadable(ctx, id);
  const target = await requireReadable(ctx, target_memory_id);
  for (const end of [source, target]) if (!isStanding(end, now)) throw notFound("memory", end.id);
  const { tenant_id } = ctx.meta.caller;
  checkEdge(id, target_memory_id, relationship_type);
  const edge = edgeKey(id, target_memory_id, relationship_type);
  const metadata = ctx.params.metadata ? metadataText(ctx.params.metadata, MAX_METADATA) : null;
  const row: RelationshipDoc = {
    ...{ _id: newId("rel", ctx.meta.idempotency_seed), tenant_id, source_memory_id: id, target_memory_id },
    ...{ relationship_type, strength, metadata, edge },
    ...{ created_by: callerId(ctx.meta.caller), created_at: new Date(now) },
  };
  try {
    return present(await edges.insertOnce(row));
  } catch (err) {
    if (!isDuplicateKey(err)) throw err;
    const holder = await edges.findOne(tenant_id, { edge });
    const message = `A relationship ${relationship_type} between these memories already exists. Delete it to replace it.`;
    throw conflict(message, { existing_resource_id: holder?._id ?? null });
  }
}

async function listEdges(edges: Edges, now: number, ctx: CallOf<typeof contract.listRelationships>) {
  const { id, offset = 0, limit = 200 } = ctx.params;
  await requireReadable(ctx, id);
  const all = await edgesAt(edges, ctx.meta.caller.tenant_id, [id]);
  const standing = await standingMemories(ctx, listEnds(all), now, BRIEF);
  const shown = all.filter((edge) => listEnds([edge]).every((end) => end === id || standing.has(end)));
  const page = shown.slice(offset, offset + limit).map(({ _id }) => _id);
  const relationships = (await edges.findEach(ctx.meta.caller.tenant_id, page)).map(present);
  return { relationships, count: relationships.length };
}

/** @throws Fault not_found, forbidden */
async function deleteEdge(
  edges: Edges,
  now: number,
  ctx: CallOf<typeof contract.deleteRelationship>,
): Promise<void> {
  const { caller } = ctx.meta;
  const { edge, source } = await findEdge(edges, now, ctx);
  if (edge.created_by === null)
    throw forbidden(
      `Relationships of the type ${edge.relationship_type} are recorded by the service and cannot be deleted.`,
    );
  if (edge.created_by !== callerId(caller) && !isOwn(ctx, source) && !isOrgAdmin(caller))
    throw forbidden("Only its creator, the owner of its source and org admins can delete a relationship.");
  const removed = await edges.delete(caller.tenant_id, { _id: edge._id });
  if (!removed) throw notFound("relationship", edge._id);
}

/** @throws Fault not_found if the memory has no such edge that the caller may see. */
async function findEdge(edges: Edges, now: number, ctx: Call<{ id: string; rel_id: string }>) {
  const { id, rel_id } = ctx.params;
  const memory = await requireReadable(ctx, id);
  const edge = await edges.findOne(ctx.meta.caller.tenant_id, { _id: rel_id });
  const ends = edge ? listEnds([edge]) : [];
  const seen = ends.includes(id) && (await standingMemories(ctx, ends, now, BRIEF));
  if (!edge || !seen || !ends.every((end) => end === id || seen.has(end)))
    throw notFound("relationship", rel_id);
  return { edge, source: seen.get(edge.source_memory_id) ?? memory };
}

type BareEdge = Omit<RelationshipDoc, "metadata">;

/** Returns the edges from or to any of these memories, oldest first, each once. */
async function edgesAt(edges: Edges, tenant_id: string, ids: string[]): Promise<BareEdge[]> {
  const options = { sort: ORDER, limit: MOST_OF_MEMORY, projection: { metadata: 0 } as const };
  const [from, to] = await Promise.all([
    edges.find(tenant_id, { source_memory_id: { $in: ids } }, options),
    edges.find(tenant_id, { target_memory_id: { $in: ids } }, options),
  ]);
  const each = new Map([...from, ...to].map((row) => [row._id, row]));
  return [...each.values()].sort(byAge).slice(0, MOST_OF_MEMORY);
}

function byAge(a: BareEdge, b: BareEdge): number {
  return a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1);
}

function listEnds(edges: BareEdge[]): string[] {
  return edges.flatMap(({ source_memory_id, target_memory_id }) => [source_memory_id, target_memory_id]);
}

/** @throws Fault validation_error */
function checkEdge(source: string, target: string, type: string): void {
  const error = typeError(type);
  if (error) throw invalidValue("relationship_type", `relationship_type: ${error}`, { value: type });
  if (source === target) {
    throw invalidValue(
      "target_memory_id",
      "target_memory_id: expected another memory; a memory cannot be related to itself.",
    );
  }
}

/** These say which of two memories holds, so that the other answers nothing. */
const INSTEAD = ["contradicts", "supersedes", "superseded_by", "corrects", "corrected_by"];
const LEADING = RELATIONSHIP_TYPES.map(({ name }) => name).filter((name) => !INSTEAD.includes(name));
/** A memory with more relationships says little about any of them. */
const MOST_OF_ONE = 8;
const MOST_READ = 50;

/** Returns the relationships by which memories lead to others, in both directions. */
async function leadingEdges(edges: Edges, tenant_id: string, ids: string[]): Promise<LeadingEdge[]> {
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
