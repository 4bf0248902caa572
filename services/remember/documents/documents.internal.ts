import type { ActionSchema } from "moleculer";
import { mayRead } from "../../../lib/access/visibility.ts";
import type { SearchEntriesPage } from "../../../storage/search/entry.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import { idempotent } from "../../runtime.ts";
import { changedAfter, toEntriesPage } from "../search/feed.ts";
import { type ChunkDoc, type DocumentDoc, toEntry } from "./documents.model.ts";
import { type Documents, findReadable, isReadable } from "./documents.ts";

const SNIPPET = 300;

/** Actions for other domains. */
export function internalActions(documents: Documents): Record<string, ActionSchema> {
  const { rows, chunks } = documents;
  return {
    /**
     * Returns the citation and subject for a memory made from a chunk, or from a document, whose beginning is quoted;
     * null if the caller may not see it.
     */
    cite: idempotent<{ id: string }>(async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { id } = ctx.params;
      const chunk = await chunks.findOne(tenant_id, { _id: id });
      const doc = await rows.findOne(tenant_id, { _id: chunk?.document_id ?? id });
      if (!doc || !isReadable(await ownerAccess(ctx), doc)) return null;
      const first = { sort: { chunk_index: 1 }, limit: 1, bounded: "one chunk" } as const;
      const [beginning] = chunk ? [] : await chunks.find(tenant_id, { document_id: id }, first);
      const cited = chunk ?? { page_number: null, text: beginning?.text ?? "" };
      return { citation: citation(doc, cited), subject: doc.subject ?? null };
    }),

    /** Stops this node's work on erased documents. */
    leave: idempotent<{ document_ids: string[] }>(({ params }) => documents.leave(params.document_ids)),

    /** Returns whether citations of documents are still valid; omits unknown ones. */
    freshness: idempotent<{ tenant_id: string; document_ids: string[] }>(async ({ params }) => {
      const wanted = { _id: { $in: params.document_ids } };
      const found = await rows.find(params.tenant_id, wanted, { projection: { stale_since: 1 } });
      return found.map(({ _id, stale_since }) => ({
        document_id: _id,
        stale: stale_since !== null,
        stale_since: stale_since?.toISOString() ?? null,
      }));
    }),

    /** Returns which documents the caller may see, or could have seen before they were deleted. */
    visible: idempotent<{ document_ids: string[] }>(async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const [access, found] = await Promise.all([
        ownerAccess(ctx),
        rows.find(tenant_id, { _id: { $in: ctx.params.document_ids } }, { projection: { audience: 0 } }),
      ]);
      return found.filter((doc) => mayRead(access, doc)).map(({ _id }) => _id);
    }),

    /** Returns the SHA-256 of a document's file in hex. @throws Fault not_found if the caller may not see it */
    digest: idempotent<{ document_id: string }>(
      async (ctx) => (await findReadable(documents, ctx, ctx.params.document_id)).hash,
    ),

    /** Serves search's catch-up: chunks in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      toEntriesPage(await changedAfter(chunks, params), toEntry),
    ),
  };
}

function citation(doc: DocumentDoc, chunk: Pick<ChunkDoc, "page_number" | "text">) {
  return {
    document_id: doc._id,
    document_name: doc.filename,
    page: chunk.page_number,
    snippet: chunk.text.slice(0, SNIPPET).toWellFormed(),
    source_id: doc.source_id,
    confidence: 1,
    version: doc.version_num,
  };
}
