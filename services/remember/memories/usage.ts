import type { Static } from "typebox";
import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { CallOf } from "../../runtime.ts";
import { CITE_MS } from "./cites.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import type { Touches } from "./touches.ts";
import { Activity, type Citation, type getAgentActivity } from "./usage.contract.ts";

/** Returns a memory by id, with its usage. */
export async function getMemory(memories: Memories, ctx: Call<{ id: string }>, touches: Touches) {
  const { doc } = await memories.findReadable(ctx, ctx.params.id);
  touches.note([doc], memories.now().getTime());
  return { ...(await memories.presentOne(ctx, doc)), usage: await computeUsage(memories, ctx, doc) };
}

/** Returns a memory's usage and trust. */
async function computeUsage({ rows, cites, now }: Memories, ctx: RequestContext, doc: MemoryDoc) {
  const { tenant_id, _id } = doc;
  const since = new Date(now().getTime() - CITE_MS);
  const [cite_count_30d, [last], trust] = await Promise.all([
    cites.count(tenant_id, { memory_id: _id, at: { $gt: since } }),
    cites.find(tenant_id, { memory_id: _id }, { sort: { at: -1 }, limit: 1, projection: { at: 1 } }),
    computeTrust(rows, ctx, doc),
  ]);
  // A citation's row is deleted when it no longer counts; the memory keeps the time of the last one.
  const last_cited_at = last?.at ?? doc.last_cited_at;
  return { cite_count_30d, last_cited_at: last_cited_at?.toISOString() ?? null, trust };
}

/** Returns the citations that a memory comes from. */
export async function listCitations(memories: Memories, ctx: Call<{ id: string }>) {
  const { doc } = await memories.findReadable(ctx, ctx.params.id);
  const citations = await visibleCitations(ctx, doc);
  return { citations, total: citations.length };
}

/** Returns what an agent cited within 30 days, and how often others cited its memories. */
export async function computeActivity(
  { rows: memories, cites, now }: Memories,
  ctx: CallOf<typeof getAgentActivity>,
) {
  const { agent_id, offset = 0, limit = 50 } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  // Throws if the caller may not read the agent.
  await ctx.call("agents.get", { agent_id });
  const at = { $gt: new Date(now().getTime() - CITE_MS) };
  const made = { cited_by: agent_id, at };
  const [rows, total, received, memory_count] = await Promise.all([
    cites.find(tenant_id, made, { sort: { at: -1 }, skip: offset, limit }),
    cites.count(tenant_id, made),
    cites.find(tenant_id, { owner_id: agent_id, own: false, at }, { projection: { memory_id: 1 } }),
    memories.count(tenant_id, { agent_id, status: "active" }),
  ]);
  return {
    agent_id,
    memory_count,
    memory_count_with_usefulness_gt_zero: new Set(received.map((row) => row.memory_id)).size,
    cite_count_30d: received.length,
    activity: rows.map((row) => presentAs(Activity, row, { kind: "cite" })),
    total,
  };
}

type Freshness = Static<typeof Citation>["freshness"] & { document_id: string };

/** Omits documents that the caller may not see: even a snippet would reveal too much. */
async function visibleCitations(ctx: RequestContext, { citations }: MemoryDoc) {
  if (citations.length === 0) return [];
  const document_ids = [...new Set(citations.map((each) => each.document_id))];
  const visible = await ctx.call<Freshness[], unknown>("documents.freshness", { document_ids });
  const states = new Map(visible.map(({ document_id, ...state }) => [document_id, state]));
  return citations.flatMap((each) => {
    const freshness = states.get(each.document_id);
    return freshness ? [{ ...each, freshness }] : [];
  });
}

/** A derivation edge between memories, from `relationships.derivations`. */
interface Derivation {
  source_memory_id: string;
  target_memory_id: string;
  /** Null: the service itself. */
  created_by: string | null;
}

/** Limits the lineage to the nearest ancestors. */
export const MOST_ANCESTORS = 500;
const PROJECTION = { confidence: 1, agent_id: 1, user_id: 1, superseded_by: 1 } as const;

/**
 * Returns a memory's trust: the lowest confidence among all it was made of, including replaced, merged and derived-from
 * memories. Rewriting a doubtful claim therefore gains no trust.
 */
async function computeTrust(
  memories: TenantCollection<MemoryDoc>,
  ctx: RequestContext,
  doc: MemoryDoc,
): Promise<number> {
  const { tenant_id } = doc;
  let trust = doc.confidence;
  const seen = new Set([doc._id]);
  let generation = [doc];
  while (generation.length > 0 && seen.size < MOST_ANCESTORS) {
    const ids = generation.map(({ _id }) => _id);
    const [edges, replaced] = await Promise.all([
      ctx.call<Derivation[], unknown>("relationships.derivations", { tenant_id, ids }),
      memories.find(
        tenant_id,
        { superseded_by: { $in: ids } },
        { projection: PROJECTION, limit: MOST_ANCESTORS },
      ),
    ]);
    const owners = new Map(generation.map((each) => [each._id, each.agent_id ?? each.user_id]));
    const derived = edges.filter((edge) => isTheOwners(edge, owners)).map((edge) => edge.target_memory_id);
    const others = [...new Set(derived)].filter((id) => !seen.has(id)).slice(0, MOST_ANCESTORS);
    const sources = others.length
      ? await memories.find(tenant_id, { _id: { $in: others } }, { projection: PROJECTION })
      : [];
    generation = [...replaced, ...sources].filter(({ _id }) => !seen.has(_id));
    for (const { _id, confidence } of generation) {
      seen.add(_id);
      trust = Math.min(trust, confidence);
    }
  }
  return trust;
}

/** Whether the owner created the edge: others cannot lower a memory's trust by relating it to something doubtful. */
function isTheOwners({ created_by, source_memory_id }: Derivation, owners: Map<string, string | null>) {
  return created_by === null || created_by === owners.get(source_memory_id);
}
