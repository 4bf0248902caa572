import type { ActionSchema } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { action } from "../../runtime.ts";
import type { CiteDoc } from "./cites.model.ts";
import { CITE_MS, type Cites } from "./cites.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { findReadable, type Parts } from "./parts.ts";
import { trustOf } from "./trust.ts";
import { agentActivity, citeMemory, listCitations } from "./usage.contract.ts";

export interface UsageParts extends Parts {
  cites: TenantCollection<CiteDoc>;
}

/** Returns a memory's usage and trust. */
export async function usageOf({ cites, memories, now }: UsageParts, ctx: Call, doc: MemoryDoc) {
  const { tenant_id, _id } = doc;
  const since = new Date(now().getTime() - CITE_MS);
  const [cite_count_30d, [last], trust] = await Promise.all([
    cites.count(tenant_id, { memory_id: _id, at: { $gt: since } }),
    cites.find(tenant_id, { memory_id: _id }, { sort: { at: -1 }, limit: 1, projection: { at: 1 } }),
    trustOf(memories, ctx, doc),
  ]);
  // A citation's row is deleted when it no longer counts; the memory keeps the time of the last one.
  const last_cited_at = last?.at ?? doc.last_cited_at;
  return { cite_count_30d, last_cited_at: last_cited_at?.toISOString() ?? null, trust };
}

/** Actions about the use of memories. */
export function usageActions(parts: UsageParts, cites: () => Cites): Record<string, ActionSchema> {
  return {
    cite: action(citeMemory, (ctx) => cites().cite(ctx)),

    citations: action(listCitations, async (ctx) => {
      const { doc } = await findReadable(parts, ctx, ctx.params.id);
      const citations = await citationsOf(ctx, doc);
      return { citations, total: citations.length };
    }),

    activity: action(agentActivity, async (ctx) => {
      const { agent_id, offset = 0, limit = 50 } = ctx.params;
      const { tenant_id } = ctx.meta.caller;
      // Throws if the caller may not read the agent.
      await ctx.call("agents.get", { agent_id });
      const at = { $gt: new Date(parts.now().getTime() - CITE_MS) };
      const made = { cited_by: agent_id, at };
      const [rows, total, received, memory_count] = await Promise.all([
        parts.cites.find(tenant_id, made, { sort: { at: -1 }, skip: offset, limit }),
        parts.cites.count(tenant_id, made),
        parts.cites.find(tenant_id, { owner_id: agent_id, own: false, at }, { projection: { memory_id: 1 } }),
        parts.memories.count(tenant_id, { agent_id, status: "active" }),
      ]);
      return {
        agent_id,
        memory_count,
        memory_count_with_usefulness_gt_zero: new Set(received.map((row) => row.memory_id)).size,
        cite_count_30d: received.length,
        activity: rows.map(presentActivity),
        total,
      };
    }),
  };
}

function presentActivity({ memory_id, own, originating_query_id, at }: CiteDoc) {
  return { kind: "cite", memory_id, own, originating_query_id, at: at.toISOString() };
}

interface Freshness {
  document_id: string;
  stale: boolean;
  stale_since: string | null;
}

/** Omits documents that the caller may not see: even a snippet would reveal too much. */
async function citationsOf(ctx: Call, { tenant_id, citations }: MemoryDoc) {
  if (citations.length === 0) return [];
  const document_ids = [...new Set(citations.map((each) => each.document_id))];
  const [visible, freshness] = await Promise.all([
    ctx.call<string[], unknown>("documents.visible", { document_ids }),
    ctx.call<Freshness[], unknown>("documents.freshness", { tenant_id, document_ids }),
  ]);
  const seen = new Set(visible);
  const states = new Map(freshness.map(({ document_id, ...state }) => [document_id, state]));
  return citations
    .filter(({ document_id }) => seen.has(document_id))
    .map((each) => ({
      ...each,
      freshness: states.get(each.document_id) ?? { stale: true, stale_since: null },
    }));
}
