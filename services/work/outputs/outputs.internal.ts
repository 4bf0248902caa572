import type { ActionSchema } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { SearchEntriesPage, SearchHit } from "../../../storage/search/entry.ts";
import { ownerAccess } from "../../identity/agents/read-access.ts";
import {
  type BundleCandidate,
  type BundleLeg,
  type BundleLegAnswer,
  createdWithin,
  nameLegs,
  searchBounds,
} from "../../remember/memories/bundle-leg.ts";
import { changedAfter, toEntriesPage } from "../../remember/search/feed.ts";
import { recentShare } from "../../remember/search/recency.ts";
import { idempotent } from "../../runtime.ts";
import { type OutputDoc, toEntry } from "./outputs.model.ts";
import { BRIEF, type Outputs } from "./outputs.ts";
import { findOutputs, loadPassages } from "./search.ts";

/** Actions for other domains. */
export function internalActions(outputs: Outputs): Record<string, ActionSchema> {
  const { rows, chunks } = outputs;
  return {
    /** Returns readable outputs: the best matches of a query, or the latest. */
    for_bundle: idempotent<BundleLeg>(async (ctx): Promise<BundleLegAnswer> => {
      const { query, limit, project_id } = ctx.params;
      const { hits, degraded }: { hits: Found[]; degraded: string[] } =
        query === null
          ? { hits: await latest(outputs, ctx), degraded: [] }
          : await findOutputs(outputs, ctx, { query, limit, project_id, ...searchBounds(ctx.params) });
      const given = hits.slice(0, limit);
      const texts = await loadPassages(outputs, ctx.meta.caller.tenant_id, given);
      return { items: given.map((hit) => toItem(hit, texts.get(hit.chunk_id) ?? "")), degraded };
    }),

    /** Returns which outputs the caller may read. */
    visible: idempotent<{ output_ids: string[] }>(async (ctx) => {
      const wanted = { _id: { $in: ctx.params.output_ids }, deleted_at: null };
      const filter = { ...wanted, ...visibleTo(await ownerAccess(ctx)) };
      const found = await rows.find(ctx.meta.caller.tenant_id, filter, { projection: { _id: 1 } as const });
      return found.map(({ _id }) => _id);
    }),

    /** Serves search's catch-up: chunks in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      toEntriesPage(await changedAfter(chunks, params), toEntry),
    ),
  };
}

async function latest({ rows, now }: Outputs, ctx: Call<BundleLeg>): Promise<Found[]> {
  const { tenant_id } = ctx.meta.caller;
  const { project_id, limit } = ctx.params;
  const filter = {
    ...{ deleted_at: null, superseded_by: null },
    ...(project_id !== undefined && { project_id }),
    ...createdWithin(ctx.params),
    ...visibleTo(await ownerAccess(ctx)),
  };
  const sort = { created_at: -1, _id: -1 } as const;
  const found = await rows.find(tenant_id, filter, { sort, limit, projection: BRIEF });
  const at = now();
  return found.map((doc) => ({
    ...doc,
    score: recentShare(doc.created_at.getTime(), at),
    chunk_id: `${doc._id}/0`,
  }));
}

/** An output with the part of its text to show and, if search found it, the legs that did. */
type Found = OutputDoc & { score: number; chunk_id: string; sources?: SearchHit["sources"] };

function toItem(doc: Found, excerpt: string): BundleCandidate {
  const { _id, title, score, sources, scope, version_num, authored_by_agent_id, created_at } = doc;
  return {
    ...{ item_id: _id, title, excerpt, score, source: sources ? nameLegs(sources) : "recent" },
    ...{ by: authored_by_agent_id, created_at: created_at.toISOString() },
    facts: [`version ${version_num}, scope ${scope}`],
  };
}
