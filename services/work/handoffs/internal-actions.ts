import type { ActionSchema } from "moleculer";
import { changedAfter, entriesOf } from "../../../mixins/search-feed.ts";
import type { SearchEntriesPage } from "../../../storage/search/entry.ts";
import type { BundleLeg, BundleLegAnswer } from "../../remember/bundles/bundle-leg.ts";
import { sourceOf } from "../../remember/bundles/bundle-leg.ts";
import type { EraseMemories } from "../../remember/memories/erase-rows.ts";
import { recentShare } from "../../remember/search/recency.ts";
import { idempotent } from "../../runtime.ts";
import { renderBrief } from "./brief.ts";
import { eraseTitles, withTitles } from "./erase.ts";
import { findOwn, latestOwn } from "./find.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import { findHandoff, type Parts } from "./parts.ts";
import { inOneMessage, toEntry } from "./rows.ts";

/** What other domains ask of handoffs. */
export function internalActions(parts: Parts): Record<string, ActionSchema> {
  const { handoffs } = parts;
  return {
    /** Whether the tenant has any. */
    any: idempotent<{ tenant_id: string }>(({ params }) => handoffs.exists(params.tenant_id, {})),

    /** Whether the calling agent has this handoff. */
    is_own: idempotent<{ id: string }>(async (ctx) => (await findHandoff(parts, ctx)) !== null),

    /** Those of the bundles that handoffs name. */
    bundle_references: idempotent<{ tenant_id: string; bundle_ids: string[] }>(async ({ params }) => {
      const filter = { bundle_id: { $in: params.bundle_ids } };
      const rows = await handoffs.find(params.tenant_id, filter, { projection: { bundle_id: 1 } });
      return [...new Set(rows.map(({ bundle_id }) => bundle_id))];
    }),

    /** The calling agent's handoffs that belong into a bundle. They are filed under no project. */
    for_bundle: idempotent<BundleLeg>(async (ctx): Promise<BundleLegAnswer> => {
      const { query, since, until, limit } = ctx.params;
      const bounds = {
        ...(since && { since: Date.parse(since) }),
        ...(until && { until: Date.parse(until) }),
      };
      if (query !== null) {
        const { hits, degraded } = await findOwn(parts, ctx, { query, limit, ...bounds });
        const items = hits.map(({ doc, score, sources }) => toItem(doc, score, sourceOf(sources)));
        return { items, degraded };
      }
      const created = { ...(since && { $gte: new Date(since) }), ...(until && { $lt: new Date(until) }) };
      const within = since || until ? { created_at: created } : {};
      const latest = await latestOwn(parts, ctx, { limit, bounds: within });
      const now = parts.now().getTime();
      const items = latest.map((doc) => toItem(doc, recentShare(doc.updated_at.getTime(), now), "recent"));
      return { items, degraded: [] };
    }),

    /** Takes the titles of memories that are erased out of citations; says of how many handoffs. */
    erase_memories: idempotent<EraseMemories>(async ({ params }) => {
      const { tenant_id, ids, dry_run } = params;
      if (!dry_run) return { handoffs: await eraseTitles(parts, tenant_id, ids) };
      return { handoffs: await handoffs.count(tenant_id, withTitles(ids)) };
    }),

    /** For search to follow: handoffs in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      entriesOf(inOneMessage(await changedAfter(handoffs, params)), toEntry),
    ),
  };
}

function toItem(doc: HandoffDoc, score: number, source: string) {
  return {
    item_id: doc._id,
    title: doc.name,
    // Titles of memories stay out: a bundle cannot give them up again when the memory is erased.
    excerpt: renderBrief({ ...doc, citations: [] }),
    ...{ score, source, by: doc.agent_id, created_at: doc.created_at.toISOString() },
    facts: [`version ${doc.version_num}`, `saved ${doc.updated_at.toISOString()}`],
  };
}
