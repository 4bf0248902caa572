import { notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { checkFilter, checkGlob, givenFilter } from "../../../lib/contract/subscription.ts";
import { newId } from "../../../lib/ids.ts";
import { changeRouting } from "../../identity/tenants/routing-change.ts";
import type { CallOf } from "../../runtime.ts";
import type { Subscribing } from "../interests/advice.ts";
import type * as contract from "./channels.contract.ts";
import type { FeedDoc } from "./channels.model.ts";
import type { Channels } from "./channels.ts";

/** The operations on channels' feeds. */
export class Feeds {
  readonly #channels: Channels;

  constructor(channels: Channels) {
    this.#channels = channels;
  }

  async create(ctx: CallOf<typeof contract.createChannelFeed>) {
    const { feeds } = this.#channels;
    const { event_type_glob } = ctx.params;
    const filter_expression = givenFilter(ctx.params.filter_expression);
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    checkGlob("event_type_glob", event_type_glob);
    checkFilter("filter_expression", filter_expression);
    const subscribing = { tenant_id, glob: event_type_glob, filter: filter_expression };
    const warnings = await ctx.call<string[], Subscribing>("interests.admit_feed", subscribing);
    const _id = newId("feed", ctx.meta.idempotency_seed);
    const given = { _id, tenant_id, channel_id, event_type_glob, filter_expression };
    await this.#requireNew(given);
    return changeRouting(ctx, tenant_id, `feed ${_id}`, async () => {
      const row = await feeds.insertOnce({ ...given, created_at: this.#channels.now() });
      await this.#channels.keep(row, () => feeds.delete(tenant_id, { _id }));
      return { ...present(row), ...(warnings.length > 0 && { warnings }) };
    });
  }

  /** Only a hint: a second feed of two concurrent requests has no effect, because an agent gets an event once. */
  async #requireNew({ _id, tenant_id, ...same }: Omit<FeedDoc, "created_at">): Promise<void> {
    const other = await this.#channels.feeds.findOne(tenant_id, same);
    // A repeated request finds its own.
    if (!other || other._id === _id) return;
    const message = "The channel already has a feed with this glob and filter.";
    throw ruleBroken("feed_conflict", message, { existing_resource_id: other._id });
  }

  async list(ctx: CallOf<typeof contract.listChannelFeeds>) {
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const sort = { created_at: 1, _id: 1 } as const;
    const { rows, total } = await this.#channels.feeds.page(tenant_id, { channel_id }, sort, ctx.params);
    return { feeds: rows.map(present), total };
  }

  async delete(ctx: CallOf<typeof contract.deleteChannelFeed>) {
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const { feed_id } = ctx.params;
    const deleted = await changeRouting(ctx, tenant_id, `feed ${feed_id}`, () =>
      this.#channels.feeds.delete(tenant_id, { _id: feed_id, channel_id }),
    );
    if (!deleted) throw notFound("feed", feed_id);
  }

  async ofAgent(tenant_id: string, agent_id: string, limit: number) {
    const { members, feeds } = this.#channels;
    const joined = await members.find(tenant_id, { agent_id });
    const since = new Map(joined.map(({ channel_id, joined_at }) => [channel_id, joined_at]));
    const rows = await feeds.find(tenant_id, { channel_id: { $in: [...since.keys()] } }, { limit });
    return rows.map((row) => {
      const at = Math.max(row.created_at.getTime(), since.get(row.channel_id)?.getTime() ?? 0);
      return { ...toSubscription(row), since: new Date(at).toISOString() };
    });
  }

  async fedAgents(tenant_id: string, agent_ids: string[]): Promise<string[]> {
    const { members, feeds } = this.#channels;
    const rows = await members.find(tenant_id, { agent_id: { $in: agent_ids } });
    const channel_id = { $in: [...new Set(rows.map((row) => row.channel_id))] };
    const fed = await feeds.find(tenant_id, { channel_id }, { projection: { channel_id: 1 } });
    const channels = new Set(fed.map((row) => row.channel_id));
    return [...new Set(rows.filter((row) => channels.has(row.channel_id)).map((row) => row.agent_id))];
  }
}

/** Converts a feed to a subscription. */
export function toSubscription({ _id: id, channel_id, event_type_glob: glob, filter_expression }: FeedDoc) {
  const filter = filter_expression === null ? {} : { filter: filter_expression };
  return { id, kind: "feed" as const, channel_id, glob, ...filter, priority: 0 };
}

function present({ _id: id, channel_id, event_type_glob, filter_expression, created_at }: FeedDoc) {
  return { id, channel_id, event_type_glob, filter_expression, created_at };
}
