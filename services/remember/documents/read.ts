import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import { afterPlace, fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import type { CallOf } from "../../runtime.ts";
import * as contract from "./documents.contract.ts";
import { present, presentChunk } from "./documents.model.ts";
import { type Documents, findReadable } from "./documents.ts";

/** Returns a page of the documents that the caller may see, newest first. */
export async function listDocuments({ rows }: Documents, ctx: CallOf<typeof contract.listDocuments>) {
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

export async function getDocument(documents: Documents, ctx: Call<{ document_id: string }>) {
  return present(await findReadable(documents, ctx, ctx.params.document_id));
}

export async function listChunks(documents: Documents, ctx: CallOf<typeof contract.listChunks>) {
  const { tenant_id } = ctx.meta.caller;
  const { document_id, source_id, offset = 0, limit = 20 } = ctx.params;
  const { chunk_count } = await findReadable(documents, ctx, document_id, source_id);
  const range = { $gte: offset, $lt: offset + limit };
  const sort = { chunk_index: 1 } as const;
  const wanted = { document_id, chunk_index: range };
  const { rows } = await documents.chunks.findWithin(tenant_id, wanted, { sort });
  return { chunks: rows.map(presentChunk), total: chunk_count };
}
