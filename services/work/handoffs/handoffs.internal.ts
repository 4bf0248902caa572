import type { ActionSchema } from "moleculer";
import type { SearchEntriesPage } from "../../../storage/search/entry.ts";
import type { EraseContent } from "../../erasers.ts";
import {
  type BundleLeg,
  type BundleLegAnswer,
  createdWithin,
  nameLegs,
  searchBounds,
} from "../../remember/memories/bundle-leg.ts";
import type { EraseMemories } from "../../remember/memories/erase-rows.ts";
import { changedAfter, toEntriesPage } from "../../remember/search/feed.ts";
import { recentShare } from "../../remember/search/recency.ts";
import { idempotent } from "../../runtime.ts";
import { renderBrief } from "./brief.ts";
import { findOwn, latestOwn } from "./find.ts";
import { type HandoffDoc, toEntry } from "./handoffs.model.ts";
import { type Handoffs, inOneMessage } from "./handoffs.ts";

/** Actions for other domains. */
export function internalActions(handoffs: Handoffs): Record<string, ActionSchema> {
  const { rows } = handoffs;
  return {
    /** Whether the tenant has any. */
    any: idempotent<{ tenant_id: string }>(({ params }) => rows.exists(params.tenant_id, {})),

    /** Whether the calling agent has this handoff. */
    is_own: idempotent<{ id: string }>(
      async (ctx) => (await handoffs.find(ctx, { _id: ctx.params.id })) !== null,
    ),

    /** Returns which of the bundles handoffs name. */
    bundle_references: idempotent<{ tenant_id: string; bundle_ids: string[] }>(async ({ params }) => {
      const filter = { bundle_id: { $in: params.bundle_ids } };
      const found = await rows.find(params.tenant_id, filter, { projection: { bundle_id: 1 } });
      return [...new Set(found.map(({ bundle_id }) => bundle_id))];
    }),

    /** Returns the calling agent's handoffs for a bundle. They belong to no project. */
    for_bundle: idempotent<BundleLeg>(async (ctx): Promise<BundleLegAnswer> => {
      const { query, limit } = ctx.params;
      if (query !== null) {
        const { hits, degraded } = await findOwn(handoffs, ctx, {
          query,
          limit,
          ...searchBounds(ctx.params),
        });
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
