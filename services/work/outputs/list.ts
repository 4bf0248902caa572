import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { afterPlace, fromCursor, type Order, pageOf } from "../../../lib/contract/cursor.ts";
import { tagsOfQuery } from "../../../lib/contract/tags.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import type { listOutputs } from "./outputs.contract.ts";
import type { Parts } from "./parts.ts";
import { present } from "./rows.ts";

type Asked = ParamsOf<typeof listOutputs>;

/** Returns a page of the outputs that the caller may read. */
export async function listPage({ outputs }: Parts, ctx: Call<Asked>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 50, cursor } = ctx.params;
  const wanted = { ...filterOf(ctx.params), ...visibleTo(await ownerAccess(ctx as Call)) };
  const order = orderOf(ctx.params);
  const filter =
    cursor === undefined ? wanted : { $and: [wanted, afterPlace(fromCursor(cursor, order.by), order)] };
  const sort = { [order.by]: order.sign, _id: order.sign };
  const [rows, total] = await Promise.all([
    outputs.find(tenant_id, filter, { sort, skip: offset, limit: limit + 1 }),
    outputs.count(tenant_id, wanted),
  ]);
  const { page, next_cursor } = pageOf(rows, limit, order.by);
  return { outputs: page.map(present), total, next_cursor };
}

function filterOf({ scope, project_id, process_run_id, tags = [] }: Asked) {
  const wanted = tagsOfQuery(tags);
  return {
    deleted_at: null,
    ...(scope !== undefined && { scope }),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(process_run_id && { process_run_id: process_run_id.toLowerCase() }),
    ...(wanted.length > 0 && { tags: { $in: wanted } }),
  };
}

function orderOf({ sort, order }: Asked): Order<"created_at" | "title_key"> {
  const by = sort === "title" ? "title_key" : "created_at";
  const usual = by === "title_key" ? 1 : -1;
  return { by, sign: order === "asc" ? 1 : order === "desc" ? -1 : usual };
}
