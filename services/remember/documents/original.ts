import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { place } from "../../../mixins/queue.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import { BlobMissing } from "../../../storage/blobs/hash.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import { type DocumentDoc, present } from "./documents.model.ts";
import { type Documents, findReadable } from "./documents.ts";

type Asked = Call<{ document_id: string }>;

/** A browser that is sent to the file itself runs nothing in it. */
const NO_PAGE = { "Content-Security-Policy": "default-src 'none'; sandbox" };

/** Returns the file as it was uploaded. @throws Fault not_found */
export async function downloadDocument(documents: Documents, blobs: Blobs, ctx: Asked) {
  const doc = await findReadable(documents, ctx, ctx.params.document_id);
  if (!(await isKept(blobs, doc))) throw notFound("original of document", doc._id);
  ctx.meta.$responseType = doc.mime_type;
  ctx.meta.$responseHeaders = { ...attachment(doc.filename), ...NO_PAGE };
  return { hash: doc.hash, size: doc.byte_size };
}

/** Queues a failed document again. @throws Fault not_found, forbidden, conflict */
export async function retryDocument(documents: Documents, blobs: Blobs, ctx: Asked) {
  const doc = await findReadable(documents, ctx, ctx.params.document_id);
  const { tenant_id, _id, source_id, hash, agent_id } = doc;
  const { agent_ids } = await ownerAccess(ctx);
  if (!isAdmin(ctx.meta.caller) && !agent_ids.includes(agent_id))
    throw new Fault("forbidden", "Only its uploader and admins can retry a document. Ask one of them.");
  if (doc.status !== "failed")
    throw refusal(doc, `The document is ${doc.status}. Only failed documents can be retried.`);
  if (!(await isKept(blobs, doc)))
    throw refusal(doc, "The original of this document is no longer kept. Upload the file again.");
  const queue = place(tenant_id, documents.now(), agent_id);
  const live_key = `${tenant_id} ${source_id} ${hash}`;
  const $set = { status: "queued" as const, error: null, attempts: 0, queue, live_key };
  const queued = await documents.rows
    .update(tenant_id, { _id, status: "failed" }, { $set })
    .catch(nullIfTaken);
  if (!queued) throw refusal(doc, "The file was uploaded or retried meanwhile. Open its newest document.");
  documents.nudge();
  return present(queued);
}

/** Files of documents that failed before originals were kept are gone. */
async function isKept(blobs: Blobs, { tenant_id, hash }: DocumentDoc): Promise<boolean> {
  try {
    (await blobs.stream(tenant_id, hash)).destroy();
    return true;
  } catch (err) {
    if (err instanceof BlobMissing) return false;
    throw err;
  }
}

function refusal({ _id }: DocumentDoc, message: string): Fault {
  return new Fault("conflict", message, { existing_resource_id: _id });
}
