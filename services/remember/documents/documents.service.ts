import type { ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { Queue } from "../../../mixins/queue.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./documents.contract.ts";
import { ChunkModel, DocumentModel, SourceModel } from "./documents.model.ts";
import { emptied, GONE } from "./erase.ts";
import { Ingest } from "./ingest.ts";
import { internalActions } from "./internal-actions.ts";
import { listPage } from "./list.ts";
import { findReadable, isReadable, type Parts } from "./parts.ts";
import { present, presentChunk } from "./rows.ts";
import { searchActions } from "./search.ts";
import { upload } from "./upload.ts";

/** Interval for finding work that other nodes left, and retries. */
const LOOK_MS = 2000;

export const documentsService: ServiceFactory = ({ store, blobs, config }) => {
  let ingest: Ingest;
  const loop = new ServiceLoop(() => ingest.work(), LOOK_MS, "documents: the queue cannot be read");
  const documents = store.collection(DocumentModel);
  const chunks = store.collection(ChunkModel);
  const parts: Parts = {
    sources: store.collection(SourceModel),
    documents,
    chunks,
    now: store.now,
    nudge: () => loop.nudge(),
    leave: (document_ids) => ingest.leave(document_ids),
  };
  const queue = new Queue(documents, store.now);

  /** Hides the document at once; ingestion removes its chunks in the next step (ingest.ts). */
  async function remove(ctx: Call<{ document_id: string; source_id: string }>): Promise<boolean> {
    const { caller } = ctx.meta;
    const { document_id, source_id } = ctx.params;
    const doc = await documents.findOne(caller.tenant_id, { _id: document_id, source_id });
    const access = await ownerAccess(ctx as Call);
    if (!doc || doc.status === "deleted" || !(isReadable(access, doc) || isAdmin(caller))) return false;
    if (!isAdmin(caller) && !access.agent_ids.includes(doc.agent_id)) {
      throw new Fault("forbidden", "Only who uploaded a document or an admin may delete it.");
    }
    const filter = { _id: document_id, status: { $ne: "deleted" as const } };
    const $set = emptied(doc, store.now());
    const removed = await documents.update(caller.tenant_id, filter, {
      $set,
      $unset: { ...GONE, subject: 1 },
    });
    parts.nudge();
    return removed !== null;
  }

  return {
    name: "documents",
    mixins: [loop.mixin],
    actions: {
      upload: action(contract.uploadDocument, async (ctx) => {
        const { doc, isNew } = await upload(parts, ctx, config.DOCUMENT_MAX_BYTES);
        if (!isNew) ctx.meta.$statusCode = 200;
        return { accepted: true, document_id: doc._id, status: doc.status };
      }),

      list: action(contract.listDocuments, (ctx) => listPage(parts, ctx)),

      get: action(contract.getDocument, async (ctx) =>
        present(await findReadable(parts, ctx as Call, ctx.params.document_id)),
      ),

      list_chunks: action(contract.listChunks, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { document_id, source_id, offset = 0, limit = 20 } = ctx.params;
        const { chunk_count } = await findReadable(parts, ctx as Call, document_id, source_id);
        const range = { $gte: offset, $lt: offset + limit };
        const sort = { chunk_index: 1 } as const;
        const rows = await chunks.find(tenant_id, { document_id, chunk_index: range }, { sort });
        return { chunks: rows.map(presentChunk), total: chunk_count };
      }),

      delete: action(contract.deleteDocument, async (ctx) => {
        const { document_id } = ctx.params;
        if (await remove(ctx)) return { deleted: true, document_id };
        return { deleted: false, error_code: "not_found" };
      }),

      ...searchActions(parts),
      ...internalActions(parts),
    },

    created() {
      const broker = this.broker as ServiceBroker;
      ingest = new Ingest({ parts, queue, blobs, broker, seconds: config.DOCUMENT_PARSE_SECONDS });
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
