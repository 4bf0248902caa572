import type { ServiceBroker } from "moleculer";
import { makeConverter } from "../../../connectors/document-converter.ts";
import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import { afterPlace, fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { unknownReference } from "../../../lib/contract/faults.ts";
import { Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { SearchFind, SearchFound } from "../../../storage/search/entry.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import { action, type CallOf, event, idempotent, type ServiceFactory } from "../../runtime.ts";
import { wantedLabels } from "./audience.ts";
import * as contract from "./documents.contract.ts";
import { MIME_TYPES, type searchDocuments as operation } from "./documents.contract.ts";
import { internalActions } from "./documents.internal.ts";
import { ChunkModel, DocumentModel, present, presentChunk, SourceModel } from "./documents.model.ts";
import { type Documents, findReadable, isReadable } from "./documents.ts";
import { deleteDocument, type EraseSubject, eraseSubject } from "./erase.ts";
import { IN_WORK, Ingest } from "./ingest.ts";
import { downloadDocument, retryDocument } from "./original.ts";
import { uploadDocument } from "./upload.ts";

/** Interval for finding work that other nodes left, and retries. */
const LOOK_MS = 2000;

export const documentsService: ServiceFactory = ({ store, blobs, config }) => {
  const { DOCUMENT_MAX_BYTES, DOCUMENT_PARSE_SECONDS: seconds } = config;
  const converter = makeConverter(config);
  const isReadable = (mime_type: string) =>
    converter !== null || MIME_TYPES.some((known) => known === mime_type);
  let broker: ServiceBroker;
  let ingest: Ingest;
  const loop = new SharedLoop(
    "queue",
    () => ingest.work(),
    LOOK_MS,
    "documents: the queue could not be read; the next sweep retries",
  );
  const documents: Documents = {
    sources: store.collection(SourceModel),
    rows: store.collection(DocumentModel),
    chunks: store.collection(ChunkModel),
    now: store.now,
    nudge: () => void broker.broadcast("documents.queued"),
    leave: (document_ids) => ingest.leave(document_ids),
  };
  const queue = new Queue(documents.rows, store.now, IN_WORK);

  return {
    name: "documents",
    mixins: [loop.mixin],
    actions: {
      upload: action(contract.uploadDocument, (ctx) =>
        uploadDocument(documents, ctx, DOCUMENT_MAX_BYTES, isReadable),
      ),
      list: action(contract.listDocuments, (ctx) => listDocuments(documents, ctx)),
      get: action(contract.getDocument, (ctx) => getDocument(documents, ctx)),
      list_chunks: action(contract.listChunks, (ctx) => listChunks(documents, ctx)),
      delete: action(contract.deleteDocument, (ctx) => deleteDocument(documents, ctx)),
      content: action(contract.downloadDocument, (ctx) => downloadDocument(documents, blobs, ctx)),
      retry: action(contract.retryDocument, (ctx) => retryDocument(documents, blobs, ctx)),
      search: action(contract.searchDocuments, (ctx) => searchDocuments(documents, ctx)),
      /** Erases, or counts, documents about a subject, with their chunks. */
      erase_subject: idempotent<EraseSubject>((ctx) => eraseSubject(documents, ctx)),
      ...internalActions(documents),
    },

    events: {
      // All nodes take from the queue; only one looks without being told.
      "documents.queued": event(() => loop.nudge()),
    },

    created() {
      broker = this.broker;
      ingest = new Ingest({ documents, queue, blobs, broker, converter, seconds, next: () => loop.nudge() });
    },

    async started() {
      if (store.driver === "sqlite") await queue.reclaim();
    },

    async stopped() {
      // Stopped before the ingestion, which it would give new work.
      await loop.stop();
      await ingest.stop();
    },
  };
};

/** Returns a page of the documents that the caller may see, newest first. */
async function listDocuments({ rows }: Documents, ctx: CallOf<typeof contract.listDocuments>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 20, cursor, source_id, status } = ctx.params;
  const wanted = {
    ...visibleTo(await ownerAccess(ctx)),
    status: status ?? { $in: [...contract.STATUSES] },
    ...(source_id !== undefined && { source_id }),
  };
  const filter =
    cursor === undefined
      ? wanted
      : { $and: [wanted, afterPlace(fromCursor(cursor, "created_at"), { by: "created_at", sign: -1 })] };
  const sort = { created_at: -1, _id: -1 } as const;
  const [found, total] = await Promise.all([
    rows.findWithin(tenant_id, filter, { sort, skip: offset, limit: limit + 1 }),
    rows.count(tenant_id, wanted),
  ]);
  const { page, next_cursor } = pageOf(found, limit, "created_at");
  return { documents: page.map(present), total, next_cursor };
}

async function getDocument(documents: Documents, ctx: Call<{ document_id: string }>) {
  return present(await findReadable(documents, ctx, ctx.params.document_id));
}

async function listChunks(documents: Documents, ctx: CallOf<typeof contract.listChunks>) {
  const { tenant_id } = ctx.meta.caller;
  const { document_id, source_id, offset = 0, limit = 20 } = ctx.params;
  const { chunk_count } = await findReadable(documents, ctx, document_id, source_id);
  const range = { $gte: offset, $lt: offset + limit };
  const sort = { chunk_index: 1 } as const;
  const wanted = { document_id, chunk_index: range };
  const { rows } = await documents.chunks.findWithin(tenant_id, wanted, { sort });
  return { chunks: rows.map(presentChunk), total: chunk_count };
}

/** Finds chunks. Looks up hits in the record: the index may be older than the rows. */
async function searchDocuments({ sources, rows, chunks }: Documents, ctx: CallOf<typeof operation>) {
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
