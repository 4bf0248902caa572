import type { ActionSchema } from "moleculer";
import { notFound } from "../../../lib/contract/faults.ts";
import { checkFilter, checkGlob } from "../../../lib/contract/subscription.ts";
import { newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { action, internal } from "../../runtime.ts";
import { raiseRouting } from "../interests/routing-change.ts";
import * as contract from "./channels.contract.ts";
import type { FeedDoc } from "./channels.model.ts";

interface Parts {
  feeds: TenantCollection<FeedDoc>;
  /** Throws not_found. */
  find(tenant_id: string, channel_id: string): Promise<unknown>;
  /** Throws not_found after undoing the addition to the channel. */
  keep(tenant_id: string, channel_id: string, undo: () => Promise<unknown>): Promise<void>;
  now(): Date;
}

/** The channels service's actions on feeds. */
export function feedActions({ feeds, find, keep, now }: Parts): Record<string, ActionSchema> {
  return {
    create_feed: action(contract.createFeed, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { channel_id, event_type_glob, filter_expression = null } = ctx.params;
      await find(tenant_id, channel_id);
      checkGlob("event_type_glob", event_type_glob);
      checkFilter("filter_expression", filter_expression);
      await ctx.call("interests.require_capacity", { tenant_id });
      const row = await feeds.insertOnce({
        _id: newId("feed", ctx.meta.idempotency_seed),
        tenant_id,
        channel_id,
        event_type_glob,
        filter_expression,
        created_at: now(),
      });
      await keep(tenant_id, channel_id, () => feeds.delete(tenant_id, { _id: row._id }));
      await raiseRouting(ctx, tenant_id, { kind: "subscribe", subscription: toSubscription(row) });
      return present(row);
    }),

    list_feeds: action(
      contract.listFeeds,
      async ({ params: { channel_id, offset = 0, limit = 50 }, meta }) => {
        const { tenant_id } = meta.caller;
        await find(tenant_id, channel_id);
        const sort = { created_at: 1, _id: 1 } as const;
        const [rows, total] = await Promise.all([
          feeds.find(tenant_id, { channel_id }, { sort, skip: offset, limit }),
          feeds.count(tenant_id, { channel_id }),
        ]);
        return { feeds: rows.map(present), total };
      },
    ),

    delete_feed: action(contract.deleteFeed, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { channel_id, feed_id } = ctx.params;
      await find(tenant_id, channel_id);
      if (!(await feeds.delete(tenant_id, { _id: feed_id, channel_id }))) throw notFound("feed", feed_id);
      await raiseRouting(ctx, tenant_id, { kind: "unsubscribe", id: feed_id });
    }),

    /** Returns feeds of all the tenant's channels, for routing: the page after an id. */
    feeds_page: internal<{ tenant_id: string; after: string; limit: number }>(async ({ params }) => {
      const { tenant_id, after, limit } = params;
      const rows = await feeds.find(tenant_id, { _id: { $gt: after } }, { sort: { _id: 1 }, limit });
      return rows.map(toSubscription);
    }),
  };
}

/** Converts a feed to a subscription. */
function toSubscription({ _id: id, channel_id, event_type_glob: glob, filter_expression }: FeedDoc) {
  const filter = filter_expression === null ? {} : { filter: filter_expression };
  return { id, kind: "feed" as const, channel_id, glob, ...filter, priority: 0 };
}

function present({ _id, channel_id, event_type_glob, filter_expression, created_at }: FeedDoc) {
  return { id: _id, channel_id, event_type_glob, filter_expression, created_at: created_at.toISOString() };
}
