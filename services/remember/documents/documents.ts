import type { RequestContext } from "../../../lib/access/caller.ts";
import { type Access, mayRead } from "../../../lib/access/visibility.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
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
