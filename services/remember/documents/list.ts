import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { invalidCursor } from "../../../lib/contract/faults.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import { type listDocuments, STATUSES } from "./documents.contract.ts";
import type { DocumentDoc } from "./documents.model.ts";
import type { Parts } from "./parts.ts";
import { present } from "./rows.ts";

/** A page of what the caller may see, newest first. */
export async function listPage({ documents }: Parts, ctx: Call<ParamsOf<typeof listDocuments>>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 20, cursor, source_id, status } = ctx.params;
  const wanted = {
    ...visibleTo(await ownerAccess(ctx as Call)),
    status: status ?? { $in: [...STATUSES] },
    ...(source_id !== undefined && { source_id }),
  };
  const page = cursor === undefined ? wanted : { $and: [wanted, after(cursor)] };
  const sort = { created_at: -1, _id: -1 } as const;
  const [rows, total] = await Promise.all([
    documents.find(tenant_id, page, { sort, skip: offset, limit: limit + 1 }),
    documents.count(tenant_id, wanted),
  ]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { documents: shown.map(present), total, next_cursor: last ? cursorOf(last) : null };
}

function cursorOf({ created_at, _id }: DocumentDoc): string {
  return Buffer.from(`${created_at.getTime()} ${_id}`).toString("base64url");
}

/** @throws Fault validation_failed */
function after(cursor: string) {
  const found = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, "base64url").toString());
  if (!found) throw invalidCursor(cursor);
  const created_at = new Date(Number(found[1]));
  return { $or: [{ created_at: { $lt: created_at } }, { created_at, _id: { $lt: found[2] as string } }] };
}
