import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { afterPlace, fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import { type listDocuments, STATUSES } from "./documents.contract.ts";
import type { Parts } from "./parts.ts";
import { present } from "./rows.ts";

/** Returns a page of the documents that the caller may see, newest first. */
export async function listPage({ documents }: Parts, ctx: Call<ParamsOf<typeof listDocuments>>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 20, cursor, source_id, status } = ctx.params;
  const wanted = {
    ...visibleTo(await ownerAccess(ctx as Call)),
    status: status ?? { $in: [...STATUSES] },
    ...(source_id !== undefined && { source_id }),
  };
  const filter =
    cursor === undefined
      ? wanted
      : { $and: [wanted, afterPlace(fromCursor(cursor, "created_at"), { by: "created_at", sign: -1 })] };
  const sort = { created_at: -1, _id: -1 } as const;
  const [rows, total] = await Promise.all([
    documents.find(tenant_id, filter, { sort, skip: offset, limit: limit + 1 }),
    documents.count(tenant_id, wanted),
  ]);
  const { page, next_cursor } = pageOf(rows, limit, "created_at");
  return { documents: page.map(present), total, next_cursor };
}
