import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { fromCursor, toCursor } from "../../../lib/contract/cursor.ts";
import { tagsOfQuery } from "../../../lib/contract/tags.ts";
import { ownerAccess } from "../../../mixins/access.ts";
import type { listOutputs } from "./outputs.contract.ts";
import type { OutputDoc } from "./outputs.model.ts";
import type { Parts } from "./parts.ts";
import { present } from "./rows.ts";

type Asked = ParamsOf<typeof listOutputs>;

interface Order {
  by: "created_at" | "title_key";
  sign: 1 | -1;
}

/** A page of what the caller may read. */
export async function listPage({ outputs }: Parts, ctx: Call<Asked>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 50, cursor } = ctx.params;
  const wanted = { ...filterOf(ctx.params), ...visibleTo(await ownerAccess(ctx as Call)) };
  const order = orderOf(ctx.params);
  const page = cursor === undefined ? wanted : { $and: [wanted, beyond(cursor, order)] };
  const sort = { [order.by]: order.sign, _id: order.sign };
  const [rows, total] = await Promise.all([
    outputs.find(tenant_id, page, { sort, skip: offset, limit: limit + 1 }),
    outputs.count(tenant_id, wanted),
  ]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { outputs: shown.map(present), total, next_cursor: last ? cursorOf(last, order) : null };
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

function orderOf({ sort, order }: Asked): Order {
  const by = sort === "title" ? "title_key" : "created_at";
  const usual = by === "title_key" ? 1 : -1;
  return { by, sign: order === "asc" ? 1 : order === "desc" ? -1 : usual };
}

function cursorOf(row: OutputDoc, { by }: Order): string {
  return toCursor(by, { value: row[by], id: row._id });
}

/** @throws Fault validation_failed when no list in this order gave it */
function beyond(cursor: string, { by, sign }: Order) {
  const { value, id } = fromCursor(cursor, by);
  const after = sign === 1 ? "$gt" : "$lt";
  return { $or: [{ [by]: { [after]: value } }, { [by]: value, _id: { [after]: id } }] };
}
