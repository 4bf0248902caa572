import type { Call } from "../../../lib/access/caller.ts";
import { type Access, mayRead } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import { newUuid } from "../../../lib/ids.ts";
import { callerAccess } from "../../../mixins/access.ts";
import type {
  SearchFind,
  SearchFound,
  SearchHit,
  SearchPlan,
  SearchWhere,
} from "../../../storage/search/entry.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";
import { isExpired } from "./rows.ts";
import type { searchMemories } from "./search.contract.ts";
import { presentAll } from "./shown.ts";
import type { Touches } from "./touches.ts";

type Asked = ParamsOf<typeof searchMemories>;

/** Extra hits that replace those that no longer qualify. */
export const SPARE = 10;

/** Searches what the caller may read. Checks the index's hits against the rows. */
export async function search({ memories, now }: Rows, ctx: Call<Asked>, touches: Touches) {
  const { tenant_id } = ctx.meta.caller;
  const { query, limit = 10, min_score, include_superseded = false, explain = false, expect } = ctx.params;
  if (ctx.params.project_id) await ctx.call("projects.require", { tenant_id, key: ctx.params.project_id });
  const access = await callerAccess(ctx as Call);
  const find: SearchFind = {
    ...{ tenant_id, kind: "memory", query, access, where: whereOf(ctx.params), include_superseded },
    ...{ limit, spare: SPARE, explain },
    ...(min_score !== undefined && { min_score }),
    ...(explain && expect !== undefined && { expect }),
  };
  const { found, hits } = await findRows({ memories, now }, ctx, find);
  const given = hits.slice(0, limit);
  const rows = given.map(({ row }) => row);
  const shown = await presentAll({ memories, now }, ctx as Call, rows, access);
  const results = given.map(({ row, score, sources }, i) => ({
    memory: shown[i],
    score,
    sources,
    superseded: row.status === "superseded",
  }));
  touches.note(rows, now().getTime());
  return {
    results,
    total_candidates: found.total_candidates,
    sources_contributed: found.sources_contributed,
    originating_query_id: newUuid(ctx.meta.idempotency_seed),
    no_match: given.length === 0,
    degraded: found.degraded.length > 0,
    degraded_reasons: found.degraded,
    ...(found.plan && { plan: presentPlan(found.plan) }),
  };
}

type Rows = Pick<Parts, "memories" | "now">;

/** Queries the index and returns the hits' rows that the caller may find. */
export async function findRows(rows: Rows, ctx: Pick<Call, "call">, find: SearchFind) {
  const found = await ctx.call<SearchFound, SearchFind>("search.find", find);
  const hits = await goodRows(rows, find, found.hits.slice(0, find.limit));
  const spare = found.hits.slice(find.limit);
  // Usually all of the first hits qualify, so that no others need to be read.
  if (hits.length < Math.min(find.limit, found.hits.length))
    hits.push(...(await goodRows(rows, find, spare)));
  return { found, hits };
}

async function goodRows({ memories, now }: Rows, find: SearchFind, hits: SearchHit[]) {
  if (hits.length === 0) return [];
  const { tenant_id, access, include_superseded = false } = find;
  const rows = await memories.find(tenant_id, { _id: { $in: hits.map(({ id }) => id) } });
  const at = now().getTime();
  const good = rows.filter((row) => isToBeFound(row, access, include_superseded, at));
  const byId = new Map(good.map((row) => [row._id, row]));
  return hits.flatMap(({ id, score, sources }) => {
    const row = byId.get(id);
    return row ? [{ row, score, sources }] : [];
  });
}

function whereOf({ scope, memory_types, project_id, tags }: Asked): SearchWhere {
  return {
    ...(scope !== undefined && { scope }),
    ...(memory_types?.length && { types: memory_types }),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(tags?.length && { tags_any: canonicalTags(tags) }),
  };
}

function isToBeFound(row: MemoryDoc, access: Access, superseded: boolean, at: number): boolean {
  const inForce = row.status === "active" || (superseded && row.status === "superseded");
  return inForce && !isExpired(row, at) && mayRead(access, row);
}

function presentPlan({ legs, funnel, results, expect }: SearchPlan) {
  const named = results.map(({ id, ...rest }) => ({ memory_id: id, ...rest }));
  return { legs, funnel, results: named, ...(expect && { expect }) };
}
