import type { Call } from "../../../lib/access/caller.ts";
import { agentAccess, mayRead, type Owned } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import { newUuid } from "../../../lib/ids.ts";
import { labelOf } from "../../../lib/text/namespace.ts";
import {
  type SearchFind,
  type SearchFound,
  type SearchHit,
  type SearchPlan,
  type SearchWhere,
  wholeEntry,
} from "../../../storage/search/entry.ts";
import { conditionsOf } from "../../../storage/search/fits.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import { recentShare } from "../search/ranking.ts";
import { toWhere } from "./filters.ts";
import { type MemoryDoc, toEntry } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import { readableMemories } from "./readable.ts";
import { type FoundRow, withRelated } from "./related.ts";
import type { searchMemories } from "./search.contract.ts";
import type { Touches } from "./touches.ts";
import { presentValidity } from "./validity.ts";

type SearchQuery = ParamsOf<typeof searchMemories>;

/** Chosen so that few questions without an answer get a likely result (docs/decisions/0021-ranking.md). */
const LIKELY = 0.36;

const matchOf = (score: number) => (score >= LIKELY ? "likely" : "possible");

/** Returns the hits to show. */
export function matching<H extends { score: number }>(hits: H[], include_possible: boolean): H[] {
  return include_possible ? hits : hits.filter(({ score }) => matchOf(score) === "likely");
}

/** Extra hits that replace those that no longer qualify. */
export const SPARE = 10;

/** Searches what the caller may read. Checks the index's hits against the rows. */
export async function search(memories: Memories, ctx: Call<SearchQuery>, touches: Touches) {
  const { tenant_id } = ctx.meta.caller;
  const { query, limit = 10, min_score, include_superseded = false, explain = false, expect } = ctx.params;
  const held = await memories.heldAt(tenant_id, ctx.params);
  const access = await callerAccess(ctx);
  const find: SearchFind = {
    ...{ tenant_id, kind: "memory", query, access, include_superseded },
    where: { ...whereOf(ctx.params), held },
    ...{ limit, spare: SPARE, min_score, explain },
    expect: explain ? expect : undefined,
  };
  const { found, hits } = await findRows(memories, ctx, find);
  const given = matching(hits, ctx.params.include_possible ?? true).slice(0, limit);
  const rows = given.map(({ row }) => row);
  const shown = await memories.presentAll(ctx, rows, access);
  const results = given.map(({ row, score, sources, through }, i) => ({
    memory: shown[i],
    score,
    sources,
    superseded: row.status === "superseded",
    ...{ valid: presentValidity(row), match: matchOf(score) },
    ...(through !== undefined && { through }),
  }));
  touches.note(rows, memories.now().getTime());
  return {
    results,
    total_candidates: found.total_candidates,
    sources_contributed: found.sources_contributed,
    originating_query_id: newUuid(ctx.meta.idempotency_seed),
    no_match: given.length === 0,
    degraded: found.degraded.length > 0,
    degraded_reasons: found.degraded,
    ...(found.plan && { plan: await presentPlan(memories, ctx, found.plan, given) }),
  };
}

export interface Recall {
  tenant_id: string;
  agent_id: string;
  query: string;
  limit: number;
  content: boolean;
}

/** Recalls memories for a query on behalf of an agent, limited to what that agent may read. */
export async function recall(memories: Memories, ctx: Pick<Call<Recall>, "call" | "params">) {
  const { tenant_id, agent_id, query, limit, content } = ctx.params;
  const [agent] = await ctx.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids: [agent_id] });
  if (!agent) return { memories: [], degraded: [] };
  const access = agentAccess(agent);
  const { found, hits } = await findRows(memories, ctx, {
    ...{ tenant_id, kind: "memory", query, access, limit, spare: SPARE },
    // Deliveries wait for it.
    ...{ rerank: false, past: false },
  });
  const recalled = hits.slice(0, limit).map(({ row, score }) => ({
    ...{ id: row._id, title: row.title, score },
    ...(content && { content: row.content }),
  }));
  return { memories: recalled, degraded: found.degraded };
}

/** Queries the index and returns the hits' rows that the caller may find. */
export async function findRows(memories: Memories, ctx: Pick<Call, "call">, find: SearchFind) {
  const result = await ctx.call<SearchFound, SearchFind>("search.find", find);
  const hits = await goodRows(memories, find, result.hits.slice(0, find.limit));
  const spare = result.hits.slice(find.limit);
  // Usually all of the first hits qualify, so that no others need to be read.
  if (hits.length < Math.min(find.limit, result.hits.length))
    hits.push(...(await goodRows(memories, find, spare)));
  if (!result.isPart) return { found: result, hits };
  return {
    found: result,
    hits: await withRelated(ctx, find, hits, async (leads) =>
      (await goodRows(memories, find, leads)).filter(({ row }) => fits(row, find)),
    ),
  };
}

/** Whether a memory that no index has found passes the filters. */
function fits(row: MemoryDoc, { where = {} }: SearchFind): boolean {
  const entry = wholeEntry(toEntry(row));
  return conditionsOf(where).every((meets) => meets(entry));
}

async function goodRows(memories: Memories, find: SearchFind, hits: SearchHit[]): Promise<FoundRow[]> {
  if (hits.length === 0) return [];
  const { tenant_id, access, where } = find;
  const superseded = find.include_superseded || where?.held !== undefined;
  const rows = await memories.rows.findEach(
    tenant_id,
    hits.map(({ id }) => id),
  );
  // A question about the past finds what held then.
  const then = new Set(hits.flatMap((hit) => (hit.superseded ? [hit.id] : [])));
  const good = rows.filter((row) => {
    const inForce =
      row.status === "active" || (row.status === "superseded" && (superseded || then.has(row._id)));
    return inForce && !memories.isExpired(row) && mayRead(access, row);
  });
  const byId = new Map(good.map((row) => [row._id, row]));
  return hits.flatMap(({ id, score, sources, through }) => {
    const row = byId.get(id);
    return row ? [{ row, score, sources, ...(through !== undefined && { through }) }] : [];
  });
}

function whereOf({
  scope,
  memory_types,
  project_id,
  tags,
  namespace,
  as_of: _,
  known_at: __,
  ...filters
}: SearchQuery): SearchWhere {
  const { audience, ...where } = toWhere(filters);
  return {
    ...where,
    scope,
    project_id: project_id === "" ? null : project_id,
    types: memory_types?.length ? memory_types : undefined,
    tags_any: tags && canonicalTags(tags),
    audience: [...audience, ...(namespace === undefined ? [] : [[labelOf(namespace)]])],
  };
}

/** Names each candidate, also those that were not returned, and adds what relationships have led to. */
async function presentPlan(memories: Memories, ctx: Call, plan: SearchPlan, shown: FoundRow[]) {
  const finals = new Map(plan.results.map(({ id, final }) => [id, final]));
  const led = shown
    .filter(({ row, score, through }) => through !== undefined && finals.get(row._id) !== score)
    .map(({ row: { _id: id, confidence, created_at }, score, through }) => {
      const recency = recentShare(created_at.getTime(), memories.now().getTime());
      return { id, ...{ vector: null, bm25: null, fused: 0 }, confidence, recency, final: score, through };
    });
  const ledTo = new Map(led.map(({ id, through }) => [id, through]));
  const results = [...plan.results.filter(({ id }) => !ledTo.has(id)), ...led];
  results.sort((a, b) => b.final - a.final);
  const readable = await readableMemories(
    ctx,
    results.map(({ id }) => id),
    { brief: true },
  );
  const stage = "relationships";
  const funnel = [...plan.funnel, { stage, in: shown.length - led.length, out: shown.length }];
  const { id = "" } = plan.expect ?? {};
  const reason = `A relationship leads to it from a better result: ${ledTo.get(id)}.`;
  const expect = ledTo.has(id) ? { id, found: true, stage, reason } : plan.expect;
  const named = results.map(({ id: memory_id, ...rest }) => {
    return { memory_id, title: readable.get(memory_id)?.title ?? null, ...rest };
  });
  return {
    legs: plan.legs,
    funnel: led.length > 0 ? funnel : plan.funnel,
    results: named,
    ...(expect && { expect }),
  };
}

/** Reports a tenant's first search on this node to onboarding: no row of a memory shows it. */
export class FirstSearches {
  readonly #reported = new Set<string>();

  async report(ctx: Pick<Call, "call" | "meta" | "broker">): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    if (this.#reported.has(tenant_id)) return;
    this.#reported.add(tenant_id);
    try {
      await ctx.call("onboarding.searched", { tenant_id });
    } catch (err) {
      // The search succeeds anyway: the next one reports it.
      this.#reported.delete(tenant_id);
      ctx.broker.logger.debug("memories: a search could not be recorded", err);
    }
  }
}
