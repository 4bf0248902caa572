import { unknownReference } from "../../../lib/contract/faults.ts";
import type { SearchFind, SearchFound } from "../../../storage/search/entry.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import type { CallOf } from "../../runtime.ts";
import { wantedLabels } from "./audience.ts";
import type { searchDocuments as operation } from "./documents.contract.ts";
import { present, presentChunk } from "./documents.model.ts";
import { type Documents, isReadable } from "./documents.ts";

/** Finds chunks. Looks up hits in the record: the index may be older than the rows. */
export async function searchDocuments({ sources, rows, chunks }: Documents, ctx: CallOf<typeof operation>) {
  const { tenant_id } = ctx.meta.caller;
  const { query, limit = 10, min_score, explain, audience, source_id } = ctx.params;
  if (source_id !== undefined && !(await sources.exists(tenant_id, { _id: source_id })))
    throw unknownReference("source_id", "source", source_id);
  const access = await ownerAccess(ctx);
  const where = {
    audience: wantedLabels(audience),
    ...(source_id !== undefined && { types: [source_id] }),
  };
  const found = await ctx.call<SearchFound, SearchFind>("search.find", {
    ...{ tenant_id, kind: "chunk", query, access, where, limit },
    ...(min_score !== undefined && { min_score }),
    ...(explain && { explain }),
  });
  const hitChunks = await chunks.findEach(
    tenant_id,
    found.hits.map(({ id }) => id),
  );
  const ids = [...new Set(hitChunks.map(({ document_id }) => document_id))];
  const stored = await rows.findEach(tenant_id, ids, { filter: { status: "stored" } });
  const chunkOf = new Map(hitChunks.map((chunk) => [chunk._id, chunk]));
  const readable = stored.filter((doc) => isReadable(access, doc));
  const documentOf = new Map(readable.map((doc) => [doc._id, doc]));
  const results = found.hits.flatMap(({ id, score, sources }) => {
    const chunk = chunkOf.get(id);
    const document = chunk && documentOf.get(chunk.document_id);
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
}
