import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { afterPlace, fromCursor, type Order, pageOf } from "../../../lib/contract/cursor.ts";
import { tagsOfQuery } from "../../../lib/contract/tags.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import type { CallOf } from "../../runtime.ts";
import type * as contract from "./outputs.contract.ts";
import { present, presentVersion, presentWhole } from "./outputs.model.ts";
import { findReadable, findVersion, type Outputs } from "./outputs.ts";

type Asked = ParamsOf<typeof contract.listOutputs>;

/** Returns a page of the outputs that the caller may read. */
export async function listOutputs({ rows: outputs }: Outputs, ctx: Call<Asked>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 50, cursor } = ctx.params;
  const wanted = { ...buildFilter(ctx.params), ...visibleTo(await ownerAccess(ctx)) };
  const order = buildOrder(ctx.params);
  const filter =
    cursor === undefined ? wanted : { $and: [wanted, afterPlace(fromCursor(cursor, order.by), order)] };
  const sort = { [order.by]: order.sign, _id: order.sign };
  const [found, total] = await Promise.all([
    outputs.findWithin(tenant_id, filter, { sort, skip: offset, limit: limit + 1 }),
    outputs.count(tenant_id, wanted),
  ]);
  const { page, next_cursor } = pageOf(found, limit, order.by);
  return { outputs: page.map(present), total, next_cursor };
}

function buildFilter({ scope, project_id, process_run_id, tags = [] }: Asked) {
  const wanted = tagsOfQuery(tags);
  return {
    deleted_at: null,
    ...(scope !== undefined && { scope }),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(process_run_id && { process_run_id: process_run_id.toLowerCase() }),
    ...(wanted.length > 0 && { tags: { $in: wanted } }),
  };
}

function buildOrder({ sort, order }: Asked): Order<"created_at" | "title_key"> {
  const by = sort === "title" ? "title_key" : "created_at";
  const usual = by === "title_key" ? 1 : -1;
  return { by, sign: order === "asc" ? 1 : order === "desc" ? -1 : usual };
}

export async function getOutput(outputs: Outputs, ctx: CallOf<typeof contract.getOutput>) {
  const { output_id, version } = ctx.params;
  const doc = await findReadable(outputs, ctx, output_id);
  return presentWhole(doc, version === undefined ? doc : await findVersion(outputs, doc, String(version)));
}

export async function listVersions(outputs: Outputs, ctx: Call<{ output_id: string }>) {
  const doc = await findReadable(outputs, ctx, ctx.params.output_id);
  const filter = { output_id: doc._id, version_num: { $lt: doc.version_num } };
  const earlier = await outputs.versions.find(doc.tenant_id, filter, { sort: { version_num: -1 } });
  return { versions: [doc, ...earlier].map((each) => presentVersion(doc._id, each)) };
}

export async function getVersion(outputs: Outputs, ctx: CallOf<typeof contract.getVersion>) {
  const doc = await findReadable(outputs, ctx, ctx.params.output_id);
  const version = await findVersion(outputs, doc, ctx.params.version_num);
  return { ...presentVersion(doc._id, version), body: { hash: version.hash, size: version.byte_size } };
}
