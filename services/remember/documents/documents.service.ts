import type { ActionSchema, ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { mayRead, visibleTo } from "../../../lib/access/visibility.ts";
import { conflict, type Fault, forbidden, unknownReference } from "../../../lib/contract/faults.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { place, Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { SearchEntriesPage, SearchFind, SearchFound } from "../../../storage/search/entry.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { ownerAccess } from "../../identity/agents/find-agent.ts";
import { action, type CallOf, event, idempotent, type ServiceFactory } from "../../runtime.ts";
import { changedAfter, toEntriesPage } from "../search/feed.ts";
import { wantedLabels } from "./audience.ts";
import * as contract from "./documents.contract.ts";
import { MIME_TYPES, type searchDocuments as operation } from "./documents.contract.ts";
import {
  type ChunkDoc,
  ChunkModel,
  type DocumentDoc,
  DocumentModel,
  liveKey,
  present,
  presentChunk,
  presentDetail,
  SourceModel,
  toEntry,
} from "./documents.model.ts";
import {
  type Documents,
  deleteDocument,
  type EraseSubject,
  eraseSubject,
  findReadable,
  isReadable,
} from "./documents.ts";
import { IN_WORK, Ingest } from "./ingest.ts";
import { uploadDocument } from "./upload.ts";

/** Interval for finding work that other nodes left, and retries. */
const LOOK_MS = 2000;

export const documentsService: ServiceFactory = ({ store, blobs, config, hooks }) => {
  const { DOCUMENT_MAX_BYTES, DOCUMENT_PARSE_SECONDS: seconds } = config;
  const converter = hooks.documentConverter ?? null;
  const readers = hooks.documentReaders ?? {};
  const isReadable = (mime_type: string) =>
    converter !== null || MIME_TYPES.some((known) => known === mime_type);
  let broker: ServiceBroker;
  let ingest: Ingest;
  const loop = new SharedLoop("queue", () => ingest.work(), LOOK_MS);
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
      list_chunks: action(contract.listDocumentChunks, (ctx) => listChunks(documents, ctx)),
      delete: action(contract.deleteDocument, (ctx) => deleteDocument(documents, ctx)),
      content: action(contract.downloadDocument, (ctx) => downloadDocument(documents, ctx)),
      retry: action(contract.retryDocument, (ctx) => retryDocument(documents, ctx)),
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
      ingest = new Ingest({
        documents,
        queue,
        blobs,
        broker,
        converter,
        readers,
        seconds,
        next: () => loop.nudge(),
      });
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
  const [{ page, next_cursor }, total] = await Promise.all([
    rows.pageAfter(tenant_id, wanted, { by: "created_at", cursor, skip: offset, limit }),
    rows.count(tenant_id, wanted),
  ]);
  return { documents: page.map(present), total, next_cursor };
}

async function getDocument(documents: Documents, ctx: Call<{ document_id: string }>) {
  return presentDetail(await findReadable(documents, ctx, ctx.params.document_id));
}

async function listChunks(documents: Documents, ctx: CallOf<typeof contract.listDocumentChunks>) {
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
  const types = source_id === undefined ? undefined : [source_id];
  const result = await ctx.call<SearchFound, SearchFind>("search.find", {
    ...{ tenant_id, kind: "chunk", query, access, limit, min_score, explain },
    where: { audience: wantedLabels(audience), types },
  });
  const hitChunks = await chunks.findEach(
    tenant_id,
    result.hits.map(({ id }) => id),
  );
  const ids = [...new Set(hitChunks.map(({ document_id }) => document_id))];
  const stored = await rows.findEach(tenant_id, ids, { filter: { status: "stored" } });
  const chunkOf = new Map(hitChunks.map((chunk) => [chunk._id, chunk]));
  const readable = stored.filter((doc) => isReadable(access, doc));
  const documentOf = new Map(readable.map((doc) => [doc._id, doc]));
  const results = result.hits.flatMap(({ id, score, sources }) => {
    const chunk = chunkOf.get(id);
    const document = chunk && documentOf.get(chunk.document_id);
    return document ? [{ chunk: presentChunk(chunk), document: present(document), score, sources }] : [];
  });
  return {
    results,
    total_candidates: result.total_candidates,
    sources_contributed: result.sources_contributed,
    no_match: result.no_match || results.length === 0,
    degraded: result.degraded.length > 0,
    degraded_reasons: result.degraded,
    ...(result.plan && { plan: result.plan }),
  };
}

const SNIPPET = 300;

/** Actions for other domains. */
function internalActions(documents: Documents): Record<string, ActionSchema> {
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

    /** Returns whether citations are still valid, of documents that the caller may see, or could before they were deleted. */
    freshness: idempotent<{ document_ids: string[] }>(async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const filter = { _id: { $in: ctx.params.document_ids } };
      const [access, found] = await Promise.all([
        ownerAccess(ctx),
        rows.find(tenant_id, filter, { projection: { audience: 0, losses: 0 } }),
      ]);
      const visible = found.filter((doc) => mayRead(access, doc));
      return visible.map(({ _id, stale_since }) => ({
        document_id: _id,
        stale: stale_since !== null,
        stale_since: stale_since?.toISOString() ?? null,
      }));
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

type DocumentCall = Call<{ document_id: string }>;

/** A browser that is sent to the file itself runs nothing in it. */
const NO_PAGE = { "Content-Security-Policy": "default-src 'none'; sandbox" };

/** Returns the file as it was uploaded. @throws Fault not_found */
async function downloadDocument(documents: Documents, ctx: DocumentCall) {
  const doc = await findReadable(documents, ctx, ctx.params.document_id);
  ctx.meta.$responseType = doc.mime_type;
  ctx.meta.$responseHeaders = { ...attachment(doc.filename), ...NO_PAGE };
  return { hash: doc.hash, size: doc.byte_size };
}

/** Queues a failed document again. @throws Fault not_found, forbidden, conflict */
async function retryDocument(documents: Documents, ctx: DocumentCall) {
  const doc = await findReadable(documents, ctx, ctx.params.document_id);
  const { tenant_id, _id, agent_id } = doc;
  const { agent_ids } = await ownerAccess(ctx);
  if (!isAdmin(ctx.meta.caller) && !agent_ids.includes(agent_id))
    throw forbidden("Only its uploader and admins can retry a document. Ask one of them.");
  if (doc.status !== "failed")
    throw refusal(doc, `The document is ${doc.status}. Only failed documents can be retried.`);
  const queue = place(tenant_id, documents.now(), agent_id);
  const $set = {
    status: "queued" as const,
    error: null,
    attempts: 0,
    queue,
    live_key: liveKey(doc),
  };
  const queued = await documents.rows
    .update(tenant_id, { _id, status: "failed" }, { $set })
    .catch(nullIfTaken);
  if (!queued) throw refusal(doc, "The file was uploaded or retried meanwhile. Open its newest document.");
  documents.nudge();
  return presentDetail(queued);
}

function refusal({ _id }: DocumentDoc, message: string): Fault {
  return conflict(message, { existing_resource_id: _id });
}
