import type { ServiceBroker } from "moleculer";
import { makeConverter } from "../../../connectors/document-converter.ts";
import { Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, event, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./documents.contract.ts";
import { MIME_TYPES } from "./documents.contract.ts";
import { internalActions } from "./documents.internal.ts";
import { ChunkModel, DocumentModel, SourceModel } from "./documents.model.ts";
import type { Documents } from "./documents.ts";
import { deleteDocument, type EraseSubject, eraseSubject } from "./erase.ts";
import { IN_WORK, Ingest } from "./ingest.ts";
import { downloadDocument, retryDocument } from "./original.ts";
import { getDocument, listChunks, listDocuments } from "./read.ts";
import { searchDocuments } from "./search.ts";
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
