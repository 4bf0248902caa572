import type { ActionSchema } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import type { SearchFind, SearchFound } from "../../../storage/search/entry.ts";
import { action } from "../../runtime.ts";
import { searchDocuments } from "./documents.contract.ts";
import type { ChunkDoc, DocumentDoc } from "./documents.model.ts";
import { isReadable, type Parts } from "./parts.ts";
import { present, presentChunk, wantedLabels } from "./rows.ts";

/** Actions that find chunks. */
export function searchActions(parts: Parts): Record<string, ActionSchema> {
  return {
    search: action(searchDocuments, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { query, limit = 10, min_score, explain, audience, source_id } = ctx.params;
      if (source_id !== undefined) await requireSource(parts, tenant_id, source_id);
      const access = await ownerAccess(ctx as Call);
      const where = {
        audience: wantedLabels(audience),
        ...(source_id !== undefined && { types: [source_id] }),
      };
      const asked: SearchFind = {
        ...{ tenant_id, kind: "chunk", query, access, where, limit },
        ...(min_score !== undefined && { min_score }),
        ...(explain && { explain }),
      };
      const found = await ctx.call<SearchFound, SearchFind>("search.find", asked);
      const ids = found.hits.map(({ id }) => id);
      const chunks = await chunksOf(parts, tenant_id, ids);
      const stands = (doc: DocumentDoc) => doc.status === "stored" && isReadable(access, doc);
      const documents = await documentsOf(parts, tenant_id, [...chunks.values()], stands);
      const results = found.hits.flatMap(({ id, score, sources }) => {
        const chunk = chunks.get(id);
        const document = chunk && documents.get(chunk.document_id);
        return document ? [{ chunk: presentChunk(chunk), document: present(document), score, sources }] : [];
      });
      return {
        results,
        total_candidates: found.total_candidates,
        sources_contributed: found.sources_contributed,
        no_match: found.no_match || results.length === 0,
        degraded: found.degraded.length > 0,
        degraded_reasons: found.degraded,
        ...(found.plan && { plan: found.plan }),
      };
    }),
  };
}

async function requireSource({ sources }: Parts, tenant_id: string, source_id: string): Promise<void> {
  if (await sources.findOne(tenant_id, { _id: source_id })) return;
  throw invalidValue("source_id", `There is no source ${source_id}.`, { value: source_id });
}

/** Looks up hits in the record: the index may be older than the rows. */
async function chunksOf({ chunks }: Parts, tenant_id: string, ids: string[]): Promise<Map<string, ChunkDoc>> {
  const found = ids.length ? await chunks.find(tenant_id, { _id: { $in: ids } }) : [];
  return new Map(found.map((chunk) => [chunk._id, chunk]));
}

async function documentsOf(
  { documents }: Parts,
  tenant_id: string,
  chunks: ChunkDoc[],
  stands: (doc: DocumentDoc) => boolean,
): Promise<Map<string, DocumentDoc>> {
  const ids = [...new Set(chunks.map(({ document_id }) => document_id))];
  const found = ids.length ? await documents.find(tenant_id, { _id: { $in: ids } }) : [];
  return new Map(found.filter(stands).map((doc) => [doc._id, doc]));
}
