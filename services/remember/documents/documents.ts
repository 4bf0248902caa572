import { type Call, isAdmin, type RequestContext } from "../../../lib/access/caller.ts";
import { type Access, mayRead } from "../../../lib/access/visibility.ts";
import { onEveryNode } from "../../../lib/broker/between-nodes.ts";
import { forbidden, notFound } from "../../../lib/contract/faults.ts";
import { writings } from "../../../lib/text/subject.ts";
import { place } from "../../../mixins/queue.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { EraseContent } from "../../erasers.ts";
import { ownerAccess } from "../../identity/agents/find-agent.ts";
import { normaliseAudience } from "./audience.ts";
import { dropChunks } from "./chunk-writes.ts";
import type { ChunkDoc, DocumentDoc, SourceDoc } from "./documents.model.ts";

/** The rows of documents, and their ingestion. */
export interface Documents {
  sources: TenantCollection<SourceDoc>;
  rows: TenantCollection<DocumentDoc>;
  chunks: TenantCollection<ChunkDoc>;
  /** The store's clock. */
  now(): number;
  /** Wakes the loop when a document has work. */
  nudge(): void;
  /** Resolves when this node writes no more to these documents. */
  leave(document_ids: readonly string[]): Promise<void>;
}

export function isReadable(access: Access, doc: DocumentDoc): boolean {
  return doc.status !== "deleted" && mayRead(access, doc);
}

/** @throws Fault not_found if it does not exist, is not from the named source, or is not visible to the caller */
export async function findReadable(
  { rows }: Documents,
  ctx: RequestContext,
  document_id: string,
  source_id?: string,
): Promise<DocumentDoc> {
  const [access, doc] = await Promise.all([
    ownerAccess(ctx),
    rows.findOne(ctx.meta.caller.tenant_id, { _id: document_id }),
  ]);
  if (!doc || !isReadable(access, doc)) throw notFound("document", document_id);
  if (source_id !== undefined && doc.source_id !== source_id) throw notFound("source", source_id);
  return doc;
}

export type EraseSubject = EraseContent & { subject: string };

/** Fields that must be removed from a deleted document, including its name. */
const GONE = { losses: 1, live_key: 1, version_key: 1, access_change: 1 } as const;

/** Returns the emptied row of a document that is hidden; the queue does the rest. */
function emptied(
  { tenant_id, agent_id }: Pick<DocumentDoc, "tenant_id" | "agent_id">,
  now: number,
): Partial<DocumentDoc> {
  return {
    ...{ status: "deleted", filename: "", hash: "", error: null, audience: normaliseAudience() },
    ...{ stale_since: new Date(now), queue: place(tenant_id, now, agent_id), attempts: 0 },
  };
}

/** Hides a document at once; ingestion removes its chunks in the next step (ingest.ts). @throws Fault forbidden */
export async function deleteDocument(
  { rows, now, nudge }: Documents,
  ctx: Call<{ document_id: string; source_id: string }>,
) {
  const { caller } = ctx.meta;
  const { document_id, source_id } = ctx.params;
  const doc = await rows.findOne(caller.tenant_id, { _id: document_id, source_id });
  const access = await ownerAccess(ctx);
  if (!doc || doc.status === "deleted" || !(isReadable(access, doc) || isAdmin(caller)))
    return { deleted: false, error_code: "not_found" };
  if (!isAdmin(caller) && !access.agent_ids.includes(doc.agent_id))
    throw forbidden("Only its uploader and admins can delete a document. Ask one of them.");
  const there = { _id: document_id, status: { $ne: "deleted" as const } };
  const update = { $set: emptied(doc, now()), $unset: { ...GONE, subject: 1 } };
  const removed = await rows.update(caller.tenant_id, there, update);
  nudge();
  return removed ? { deleted: true, document_id } : { deleted: false, error_code: "not_found" };
}

/**
 * Erases documents about a subject, with the bytes of their files. The row is kept until nothing else is left, so that
 * an interrupted erasure finds it again.
 */
export async function eraseSubject(
  documents: Documents,
  ctx: Pick<Call<EraseSubject>, "broker" | "call" | "params">,
) {
  const { rows: all, chunks, now } = documents;
  const { tenant_id, subject, dry_run = false } = ctx.params;
  const rows = await all.find(
    tenant_id,
    { subject: { $in: writings(subject) } },
    { projection: { tenant_id: 1, agent_id: 1, access_change: 1 } },
  );
  const ids = rows.map(({ _id }) => _id);
  if (dry_run) {
    return { documents: ids.length, chunks: await chunks.count(tenant_id, { document_id: { $in: ids } }) };
  }
  const erased = { documents: ids.length, chunks: 0, vectors: 0 };
  if (ids.length) await ctx.call("idempotency.erase", { tenant_id, ids });
  for (const row of rows) {
    const { _id, access_change } = row;
    if (access_change) await ctx.call("memories.add_subject", { tenant_id, document_id: _id, subject });
    const standing = { _id, status: { $ne: "deleted" as const } };
    await all.update(tenant_id, standing, { $set: emptied(row, now()), $unset: GONE });
    await onEveryNode(ctx.broker, "documents.leave", { document_ids: [_id] });
    erased.chunks += await chunks.count(tenant_id, { document_id: _id });
    erased.vectors += await dropChunks(chunks, ctx, tenant_id, _id);
    await all.update(tenant_id, { _id }, { $set: { hash: "" }, $unset: { subject: 1 } });
  }
  documents.nudge();
  return erased;
}
