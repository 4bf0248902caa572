import type { ActionSchema } from "moleculer";
import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import { agentAccess } from "../../../lib/access/visibility.ts";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import { Fault, notFound, requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { isUuid } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import { summarise } from "../../../lib/text/quoted.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type {
  SearchEntriesPage,
  SearchFind,
  SearchFound,
  SearchHit,
  SearchWhere,
} from "../../../storage/search/entry.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import type { EraseContent, EraseMemories, SettleErased } from "../../erasers.ts";
import { requireOwnedAgent } from "../../identity/agents/find-agent.ts";
import {
  type BundleLeg,
  type BundleLegAnswer,
  createdWithin,
  nameLegs,
  searchBounds,
} from "../../remember/memories/for-bundle.ts";
import { readableMemories } from "../../remember/memories/readable.ts";
import { changedAfter, toEntriesPage } from "../../remember/search/feed.ts";
import { recentShare } from "../../remember/search/ranking.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import { renderBrief } from "./brief.ts";
import * as contract from "./handoffs.contract.ts";
import {
  getHandoffOfAgent,
  ListedHandoff,
  listHandoffsOfAgent,
  type listHandoffs as operation,
} from "./handoffs.contract.ts";
import { type HandoffDoc, present, toEntry } from "./handoffs.model.ts";
import { agentOf, fullTerm, Handoffs, inOneMessage, save } from "./handoffs.ts";

const SWEEP_MS = 60_000;

/** Stores named snapshots of an agent's work for another client to resume (spec: Handoff). */
export const handoffsService: ServiceFactory = ({ store, log }) => {
  const handoffs = new Handoffs(store, log);
  const reaping = new SharedLoop("sweep", (broker) => handoffs.reap(broker), SWEEP_MS);

  return {
    name: "handoffs",
    mixins: [reaping.mixin],
    actions: {
      save: action(contract.saveHandoff, (ctx) => save(handoffs, ctx)),
      list: action(contract.listHandoffs, (ctx) => listHandoffs(handoffs, ctx)),
      get: action(contract.getHandoff, async (ctx) => present(await handoffs.require(ctx, ctx.params.id))),
      resume: action(contract.resumeHandoff, (ctx) => resume(handoffs, ctx)),

      export: action(contract.exportHandoff, async (ctx) =>
        renderBrief(await handoffs.require(ctx, ctx.params.id)),
      ),

      delete: action(contract.deleteHandoff, async (ctx) => {
        const doc = await handoffs.require(ctx, ctx.params.id);
        if (!(await handoffs.remove(ctx, doc))) throw notFound("handoff", doc._id);
      }),

      pin: action(contract.pinHandoff, async (ctx) =>
        present(await handoffs.setPinned(ctx, ctx.params.id, true)),
      ),
      unpin: action(contract.unpinHandoff, async (ctx) =>
        present(await handoffs.setPinned(ctx, ctx.params.id, false)),
      ),
      list_of_agent: action(listHandoffsOfAgent, (ctx) => listAgentHandoffs(handoffs, ctx)),
      get_of_agent: action(getHandoffOfAgent, (ctx) => getAgentHandoff(handoffs, ctx)),
      ...internalActions(handoffs),
    },
  };
};

/** Actions for other domains. */
function internalActions(handoffs: Handoffs): Record<string, ActionSchema> {
  const { rows } = handoffs;
  return {
    any: idempotent<{ tenant_id: string }>(({ params }) => rows.exists(params.tenant_id, {})),

    /** Whether the calling agent has this handoff. */
    is_own: idempotent<{ id: string }>(
      async (ctx) => (await handoffs.find(ctx, { _id: ctx.params.id })) !== null,
    ),

    /** Returns which of the bundles handoffs name. */
    bundle_references: idempotent<{ tenant_id: string; bundle_ids: string[] }>(async ({ params }) => {
      const filter = { bundle_id: { $in: params.bundle_ids } };
      const references = await rows.find(params.tenant_id, filter, { projection: { bundle_id: 1 } });
      return [...new Set(references.map(({ bundle_id }) => bundle_id))];
    }),

    /** Returns the calling agent's handoffs for a bundle. They belong to no project. */
    for_bundle: idempotent<BundleLeg>(async (ctx): Promise<BundleLegAnswer> => {
      const { query, limit } = ctx.params;
      if (query !== null) {
        const params = { query, limit, ...searchBounds(ctx.params) };
        const { hits, degraded } = await findOwn(handoffs, ctx, params);
        const items = hits.map(({ doc, score, sources }) => toItem(doc, score, nameLegs(sources)));
        return { items, degraded };
      }
      const latest = await latestOwn(handoffs, ctx, { limit, bounds: createdWithin(ctx.params) });
      const now = handoffs.now().getTime();
      const items = latest.map((doc) => toItem(doc, recentShare(doc.updated_at.getTime(), now), "recent"));
      return { items, degraded: [] };
    }),

    /** Erases, or counts, the handoffs of an agent. */
    erase_agent: idempotent<EraseContent>((ctx) => handoffs.eraseOf(ctx)),

    /** Removes titles of erased memories from citations; returns the number of handoffs. */
    erase_memories: idempotent<EraseMemories>(async ({ params: { tenant_id, ids, dry_run } }) => ({
      handoffs: await handoffs.eraseTitles(tenant_id, ids, dry_run),
    })),

    settle_erased: idempotent<SettleErased>((ctx) => handoffs.settleErased(ctx)),

    /** Serves search's catch-up: handoffs in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      toEntriesPage(inOneMessage(await changedAfter(rows, params)), toEntry),
    ),
  };
}

function toItem(doc: HandoffDoc, score: number, source: string) {
  return {
    item_id: doc._id,
    title: doc.name,
    // Omits titles of memories: erasing a memory cannot remove them from a bundle.
    excerpt: renderBrief({ ...doc, citations: [] }),
    ...{ score, source, by: doc.agent_id, created_at: doc.created_at.toISOString() },
    facts: [`version ${doc.version_num}`, `saved ${doc.updated_at.toISOString()}`],
  };
}

const SUMMARY = 280;
/** Omits the long fields. */
const BRIEFLY = { payload: 0, citations: 0, artifacts: 0 } as const;

/** Returns a page of an agent's handoffs for an admin or its owner. */
async function listAgentHandoffs(handoffs: Handoffs, ctx: CallOf<typeof listHandoffsOfAgent>) {
  const { agent_id, limit = 50, cursor } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const filter = { agent_id, $and: [handoffs.standing()] };
  const order = { by: "updated_at", cursor, limit, projection: BRIEFLY } as const;
  const { page, next_cursor } = await handoffs.rows.pageAfter(tenant_id, filter, order);
  return { handoffs: page.map(listed), next_cursor };
}

/** Returns one of them with its brief. @throws Fault not_found */
async function getAgentHandoff(handoffs: Handoffs, ctx: CallOf<typeof getHandoffOfAgent>) {
  const { agent_id, id } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const wanted = { _id: id, agent_id, ...handoffs.standing() };
  const doc = requireFound(await handoffs.rows.findOne(tenant_id, wanted), "handoff", id);
  const readable = await readableMemories(
    ctx,
    doc.citations.map(({ memory_id }) => memory_id),
    { brief: true },
  );
  const citations = doc.citations.map(({ memory_id, title }) => ({
    memory_id,
    title: readable.has(memory_id) ? title : "",
  }));
  const shown = { ...doc, citations } as HandoffDoc;
  return { ...present(shown), brief: renderBrief(shown) };
}

const listed = (doc: HandoffDoc) =>
  presentAs(ListedHandoff, doc, { summary: summarise(doc.summary, SUMMARY) });
/** Lead in score over the next match that makes a match unambiguous. */
const CLEAR_MARGIN = 0.15;
const MOST_CANDIDATES = 5;
/** Characters of a query in an error. */
const SHOWN = 200;

/**
 * Resumes the handoff that a query means, and returns its brief; the candidates if several match about equally (api:
 * Handoffs). @throws Fault not_found if nothing matches
 */
async function resume(handoffs: Handoffs, ctx: Call<{ query: string }>) {
  const handoff = await guardedWrite(async () => {
    const meant = await findMeant(handoffs, ctx, ctx.params.query);
    if (Array.isArray(meant)) return meant;
    const { _id, pinned_at, version_num } = meant;
    const at = handoffs.now();
    const stamped = { last_resumed_at: at, ...fullTerm(at, pinned_at) };
    // Null if the handoff was changed meanwhile.
    return handoffs.change(ctx, { _id, pinned_at, version_num, ...handoffs.standing() }, stamped);
  }, "The handoff is being changed concurrently. Retry.");
  if (Array.isArray(handoff)) return { candidates: handoff.map(toCandidate) };
  ctx.meta.$responseType = "text/markdown; charset=utf-8";
  return renderBrief(handoff);
}

async function findMeant(
  handoffs: Handoffs,
  ctx: RequestContext,
  query: string,
): Promise<HandoffDoc | Hit[]> {
  const id = query.trim().toLowerCase();
  const named =
    (await handoffs.find(ctx, { name: query })) ?? (isUuid(id) && (await handoffs.find(ctx, { _id: id })));
  if (named) return named;
  const { hits } = await findOwn(handoffs, ctx, { query, limit: MOST_CANDIDATES });
  const [best, next] = hits;
  if (!best) throw noneMeant(query.slice(0, SHOWN));
  const isClear = ({ score }: { score: number }) => best.score - score >= CLEAR_MARGIN;
  return isClear(next ?? { score: 0 }) ? best.doc : hits.filter((hit) => !isClear(hit));
}

function noneMeant(wanted: string): Fault {
  const message = `You have no handoff with the name or id "${wanted}", and none that matches these words. List your handoffs to see their names.`;
  return new Fault("not_found", message, { resource_type: "handoff", resource_id: wanted });
}

function toCandidate({ doc, score }: Hit) {
  const { _id, name, summary, updated_at } = doc;
  return { id: _id, name, summary: summarise(summary, SUMMARY), score, updated_at: updated_at.toISOString() };
}

interface Hit extends Pick<SearchHit, "score" | "sources"> {
  doc: HandoffDoc;
}

/** Returns the agent's handoffs that match a query, best first, and why a leg of the search did not respond. */
async function findOwn(
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
async function latestOwn(
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
async function listHandoffs(handoffs: Handoffs, ctx: CallOf<typeof operation>) {
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
  const byId = new Map(
    [...literal, ...hits.map(({ doc }) => doc)].slice(0, limit).map((doc) => [doc._id, doc]),
  );
  // The answer is a bare list, which cannot report it.
  if (degraded.length) ctx.meta.$responseHeaders = { "X-Degraded": degraded.join("; ") };
  return inOneMessage([...byId.values()].sort(bySaving)).map(present);
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
