import type { RequestContext } from "../../../lib/access/caller.ts";
import { agentAccess } from "../../../lib/access/visibility.ts";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import { containing } from "../../../lib/text/containing.ts";
import type { SearchFind, SearchFound, SearchHit, SearchWhere } from "../../../storage/search/entry.ts";
import type { CallOf } from "../../runtime.ts";
import type { listHandoffs as operation } from "./handoffs.contract.ts";
import { type HandoffDoc, present } from "./handoffs.model.ts";
import { agentOf, type Handoffs, inOneMessage } from "./handoffs.ts";

export interface Hit extends Pick<SearchHit, "score" | "sources"> {
  doc: HandoffDoc;
}

/** Returns the agent's handoffs that match a query, best first, and why a leg of the search did not respond. */
export async function findOwn(
  handoffs: Handoffs,
  ctx: RequestContext,
  { query, limit, times }: Pick<SearchFind, "query" | "limit"> & Pick<SearchWhere, "times">,
): Promise<{ hits: Hit[]; degraded: string[] }> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const access = agentAccess({ id: agent_id, team_id: null });
  const where = { agent_id, times };
  const find: SearchFind = { tenant_id, kind: "handoff", query, access, where, limit };
  const { hits, degraded } = await ctx.call<SearchFound, SearchFind>("search.find", find);
  // Checks hits against the rows.
  const ids = hits.map(({ id }) => id);
  const standing = await handoffs.rows.findEach(tenant_id, ids, {
    filter: { agent_id, ...handoffs.standing() },
  });
  const rows = new Map(standing.map((doc) => [doc._id, doc]));
  const found = hits.flatMap(({ id, score, sources }) => {
    const doc = rows.get(id);
    return doc ? [{ doc, score, sources }] : [];
  });
  return { hits: found, degraded };
}

/** Returns the agent's handoffs, most recently saved first. */
export async function latestOwn(
  handoffs: Handoffs,
  ctx: RequestContext,
  { limit, offset = 0, bounds = {} }: { limit: number; offset?: number; bounds?: object },
): Promise<HandoffDoc[]> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const options = { sort: { updated_at: -1, _id: -1 } as const, skip: offset, limit };
  const filter = { agent_id, ...bounds, ...handoffs.standing() };
  return (await handoffs.rows.findWithin(tenant_id, filter, options)).rows;
}

/** Returns a page of the list; with `q` those that have it in their name or summary, or that search finds. */
export async function listHandoffs(handoffs: Handoffs, ctx: CallOf<typeof operation>) {
  const { q = "", limit = 50, offset = 0 } = ctx.params;
  const { tenant_id, agent_id } = agentOf(ctx);
  if (!/\S/.test(q)) {
    const [page, total] = await Promise.all([
      latestOwn(handoffs, ctx, { limit, offset }),
      handoffs.rows.count(tenant_id, { agent_id, ...handoffs.standing() }),
    ]);
    ctx.meta.$responseHeaders = { "X-Total-Count": String(total) };
    return page.map(present);
  }
  const [{ hits, degraded }, literal] = await Promise.all([
    findOwn(handoffs, ctx, { query: q, limit }).catch(withoutSearch),
    latestOwn(handoffs, ctx, { limit, bounds: { $and: [withText(q.trim())] } }),
  ]);
  const found = new Map(
    [...literal, ...hits.map(({ doc }) => doc)].slice(0, limit).map((doc) => [doc._id, doc]),
  );
  // The answer is a bare list, which cannot report it.
  if (degraded.length) ctx.meta.$responseHeaders = { "X-Degraded": degraded.join("; ") };
  return inOneMessage([...found.values()].sort(bySaving)).map(present);
}

/** Literal matches are returned without search too. */
function withoutSearch(err: unknown): Awaited<ReturnType<typeof findOwn>> {
  if (!isUnreached(err)) throw err;
  return { hits: [], degraded: ["the search did not respond"] };
}

function withText(text: string) {
  const pattern = containing(text);
  return { $or: [{ name: pattern }, { summary: pattern }] };
}

function bySaving(a: HandoffDoc, b: HandoffDoc): number {
  return b.updated_at.getTime() - a.updated_at.getTime() || (a._id < b._id ? 1 : -1);
}
