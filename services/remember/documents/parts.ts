import type { Call } from "../../../lib/access/caller.ts";
import { type Access, mayRead } from "../../../lib/access/visibility.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { ChunkDoc, DocumentDoc, SourceDoc } from "./documents.model.ts";

/** Dependencies of the service's actions. */
export interface Parts {
  sources: TenantCollection<SourceDoc>;
  documents: TenantCollection<DocumentDoc>;
  chunks: TenantCollection<ChunkDoc>;
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
  { documents }: Parts,
  ctx: Call,
  document_id: string,
  source_id?: string,
): Promise<DocumentDoc> {
  const [access, doc] = await Promise.all([
    ownerAccess(ctx),
    documents.findOne(ctx.meta.caller.tenant_id, { _id: document_id }),
  ]);
  if (!doc || !isReadable(access, doc)) throw notFound("document", document_id);
  if (source_id !== undefined && doc.source_id !== source_id) throw notFound("source", source_id);
  return doc;
}
