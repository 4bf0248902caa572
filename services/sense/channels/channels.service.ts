import type { Call, Caller, OfAgent } from "../../../lib/access/caller.ts";
import { invalidValue, notFound, requireFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { checkFilter, checkGlob, givenFilter } from "../../../lib/contract/subscription.ts";
import { defined } from "../../../lib/defined.ts";
import { newId } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { unlessTaken } from "../../../storage/writes.ts";
import { requireAgent } from "../../identity/agents/find-agent.ts";
import { changeRouting } from "../../identity/tenants/routing-change.ts";
import { action, type CallOf, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import type { Subscribing } from "../interests/advice.ts";
import * as contract from "./channels.contract.ts";
import {
  type ChannelDoc,
  ChannelModel,
  type FeedDoc,
  FeedModel,
  type MemberDoc,
  MemberModel,
  memberId,
} from "./channels.model.ts";

/** A page of all rows of a tenant: those after an id. */
interface Page {
  tenant_id: string;
  after: string;
  limit: number;
}

const pageOf = ({ after, limit }: Page) =>
  [{ _id: { $gt: after } }, { sort: { _id: 1 } as const, limit }] as const;

/** Feeds and members by their ids, or by those of their channels. */
interface Routed {
  tenant_id: string;
  feed_ids: string[];
  member_ids: string[];
  channel_ids: string[];
}

export const channelsService: ServiceFactory = ({ store }) => {
  const channels = new Channels(store);

  return {
    name: "channels",
    actions: {
      create: action(contract.createChannel, (ctx) => channels.create(ctx)),
      list: action(contract.listChannels, (ctx) => channels.list(ctx)),
      get: action(contract.getChannel, (ctx) => channels.get(ctx)),
      update: action(contract.updateChannel, (ctx) => channels.update(ctx)),
      delete: action(contract.deleteChannel, (ctx) => channels.delete(ctx)),

      add_member: action(contract.addChannelMember, (ctx) => channels.addMember(ctx)),
      list_members: action(contract.listChannelMembers, (ctx) => channels.listMembers(ctx)),
      remove_member: action(contract.removeChannelMember, (ctx) => channels.removeMember(ctx)),

      create_feed: action(contract.createChannelFeed, (ctx) => channels.createFeed(ctx)),
      list_feeds: action(contract.listChannelFeeds, (ctx) => channels.listFeeds(ctx)),
      delete_feed: action(contract.deleteChannelFeed, (ctx) => channels.deleteFeed(ctx)),

      /** Return members and feeds of all the tenant's channels, for routing. */
      members_page: internal<Page>(async ({ params }) =>
        (await channels.members.find(params.tenant_id, ...pageOf(params))).map(toMembership),
      ),
      feeds_page: internal<Page>(async ({ params }) =>
        (await channels.feeds.find(params.tenant_id, ...pageOf(params))).map(toSubscription),
      ),
      /** Returns the feeds of an agent's channels, with the time since which the agent gets their events. */
      feeds_of_agent: idempotent<OfAgent & { limit: number }>(({ params }) =>
        channels.feedsOfAgent(params.tenant_id, params.agent_id, params.limit),
      ),
      /** Returns which of some agents are in a channel with a feed. */
      fed_agents: idempotent<{ tenant_id: string; agent_ids: string[] }>(({ params }) =>
        channels.fedAgents(params.tenant_id, params.agent_ids),
      ),
      /** Returns some of them, after they were changed. */
      routed: idempotent<Routed>(async ({ params: { tenant_id, feed_ids, member_ids, channel_ids } }) => {
        const which = (ids: string[]) => ({
          $or: [{ _id: { $in: ids } }, { channel_id: { $in: channel_ids } }],
        });
        const [feedRows, memberRows] = await Promise.all([
          channels.feeds.find(tenant_id, which(feed_ids)),
          channels.members.find(tenant_id, which(member_ids)),
        ]);
        return { feeds: feedRows.map(toSubscription), members: memberRows.map(toMembership) };
      }),
    },
  };
};

class Channels {
  readonly members: TenantCollection<MemberDoc>;
  readonly feeds: TenantCollection<FeedDoc>;
  readonly #channels: TenantCollection<ChannelDoc>;
  readonly #store: Store;

  constructor(store: Store) {
    this.members = store.collection(MemberModel);
    this.feeds = store.collection(FeedModel);
    this.#channels = store.collection(ChannelModel);
    this.#store = store;
  }

  async create({ params, meta }: CallOf<typeof contract.createChannel>) {
    const { name, description = null } = params;
    const { tenant_id } = meta.caller;
    const _id = newId("ch", meta.idempotency_seed);
    const at = this.#now();
    const row = { _id, tenant_id, name, description, created_at: at, updated_at: at };
    return toChannel(await this.#unlessTaken(tenant_id, name, this.#channels.insertOnce(row)));
  }

  async list({ params, meta }: CallOf<typeof contract.listChannels>) {
    const { search, feed_id } = params;
    const { tenant_id } = meta.caller;
    const part = search && containing(search);
    const feed = feed_id && (await this.feeds.findOne(tenant_id, { _id: feed_id }));
    const filter = {
      ...(part && { $or: [{ name: part }, { description: part }] }),
      ...(feed_id && { _id: feed ? feed.channel_id : "none" }),
    };
    const { rows, total } = await this.#channels.page(tenant_id, filter, { name: 1 }, params);
    return { channels: rows.map(toChannel), total };
  }

  async get(ctx: CallOf<typeof contract.getChannel>) {
    return toChannel(await this.#require(ctx));
  }

  async update({ params, meta }: CallOf<typeof contract.updateChannel>) {
    const { channel_id: _id, name, description } = params;
    const { tenant_id } = meta.caller;
    const $set = { ...defined({ name, description }), updated_at: this.#now() };
    const update = this.#channels.update(tenant_id, { _id }, { $set });
    return toChannel(requireFound(await this.#unlessTaken(tenant_id, name, update), "channel", _id));
  }

  async delete(ctx: CallOf<typeof contract.deleteChannel>) {
    const { tenant_id, _id } = await this.#require(ctx);
    await changeRouting(ctx, tenant_id, `channel ${_id}`, async () => {
      // Before the channel, so that an interrupted deletion can be repeated; after it, for concurrent additions.
      await this.#empty(tenant_id, _id);
      await this.#channels.delete(tenant_id, { _id });
      await this.#empty(tenant_id, _id);
    });
  }

  /** Adding a member again changes nothing. */
  async addMember(ctx: CallOf<typeof contract.addChannelMember>) {
    const { members } = this;
    const agent_id = ctx.params.agent_id ?? selfOf(ctx.meta.caller);
    const { tenant_id, _id: channel_id } = await this.#require(ctx);
    await requireAgent(ctx, agent_id);
    const _id = memberId(channel_id, agent_id);
    const row = { _id, tenant_id, channel_id, agent_id, joined_at: this.#now() };
    await changeRouting(ctx, tenant_id, `member ${_id}`, async () => {
      if ((await members.insert(row).catch(nullIfTaken)) === null) ctx.meta.$statusCode = 200;
      await this.#keep(row, () => members.delete(tenant_id, { _id }));
    });
    return toMember((await members.findOne(tenant_id, { _id })) ?? row);
  }

  async listMembers(ctx: CallOf<typeof contract.listChannelMembers>) {
    const { tenant_id, _id: channel_id } = await this.#require(ctx);
    const sort = { joined_at: 1, _id: 1 } as const;
    const { rows, total } = await this.members.page(tenant_id, { channel_id }, sort, ctx.params);
    return { members: rows.map(toMember), total };
  }

  async removeMember(ctx: CallOf<typeof contract.removeChannelMember>) {
    const { tenant_id, _id: channel_id } = await this.#require(ctx);
    const { agent_id } = ctx.params;
    const _id = memberId(channel_id, agent_id);
    const removed = await changeRouting(ctx, tenant_id, `member ${_id}`, () =>
      this.members.delete(tenant_id, { _id }),
    );
    requireFound(removed, "member", agent_id);
  }

  async createFeed(ctx: CallOf<typeof contract.createChannelFeed>) {
    const { feeds } = this;
    const { event_type_glob } = ctx.params;
    const filter_expression = givenFilter(ctx.params.filter_expression);
    const { tenant_id, _id: channel_id } = await this.#require(ctx);
    checkGlob("event_type_glob", event_type_glob);
    checkFilter("filter_expression", filter_expression);
    const subscribing = { tenant_id, glob: event_type_glob, filter: filter_expression };
    const warnings = await ctx.call<string[], Subscribing>("interests.admit_feed", subscribing);
    const _id = newId("feed", ctx.meta.idempotency_seed);
    const feed = { _id, tenant_id, channel_id, event_type_glob, filter_expression };
    await this.#requireNewFeed(feed);
    return changeRouting(ctx, tenant_id, `feed ${_id}`, async () => {
      const row = await feeds.insertOnce({ ...feed, created_at: this.#now() });
      await this.#keep(row, () => feeds.delete(tenant_id, { _id }));
      return { ...toFeed(row), ...(warnings.length > 0 && { warnings }) };
    });
  }

  /** Only a hint: a second feed of two concurrent requests has no effect, because an agent gets an event once. */
  async #requireNewFeed({ _id, tenant_id, ...same }: Omit<FeedDoc, "created_at">): Promise<void> {
    const other = await this.feeds.findOne(tenant_id, same);
    // A repeated request finds its own.
    if (!other || other._id === _id) return;
    const message = "The channel already has a feed with this glob and filter.";
    throw ruleBroken("feed_conflict", message, { existing_resource_id: other._id });
  }

  async listFeeds(ctx: CallOf<typeof contract.listChannelFeeds>) {
    const { tenant_id, _id: channel_id } = await this.#require(ctx);
    const sort = { created_at: 1, _id: 1 } as const;
    const { rows, total } = await this.feeds.page(tenant_id, { channel_id }, sort, ctx.params);
    return { feeds: rows.map(toFeed), total };
  }

  async deleteFeed(ctx: CallOf<typeof contract.deleteChannelFeed>) {
    const { tenant_id, _id: channel_id } = await this.#require(ctx);
    const { feed_id } = ctx.params;
    const deleted = await changeRouting(ctx, tenant_id, `feed ${feed_id}`, () =>
      this.feeds.delete(tenant_id, { _id: feed_id, channel_id }),
    );
    requireFound(deleted, "feed", feed_id);
  }

  async feedsOfAgent(tenant_id: string, agent_id: string, limit: number) {
    const { members, feeds } = this;
    const joined = await members.find(tenant_id, { agent_id });
    const since = new Map(joined.map(({ channel_id, joined_at }) => [channel_id, joined_at]));
    const rows = await feeds.find(tenant_id, { channel_id: { $in: [...since.keys()] } }, { limit });
    return rows.map((row) => {
      const at = Math.max(row.created_at.getTime(), since.get(row.channel_id)?.getTime() ?? 0);
      return { ...toSubscription(row), since: new Date(at).toISOString() };
    });
  }

  async fedAgents(tenant_id: string, agent_ids: string[]): Promise<string[]> {
    const { members, feeds } = this;
    const rows = await members.find(tenant_id, { agent_id: { $in: agent_ids } });
    const channel_id = { $in: [...new Set(rows.map((row) => row.channel_id))] };
    const fed = await feeds.find(tenant_id, { channel_id }, { projection: { channel_id: 1 } });
    const channels = new Set(fed.map((row) => row.channel_id));
    return [...new Set(rows.filter((row) => channels.has(row.channel_id)).map((row) => row.agent_id))];
  }

  /** Returns the channel of a call. @throws Fault not_found */
  async #require({ params: { channel_id }, meta }: Call<{ channel_id: string }>): Promise<ChannelDoc> {
    const channel = await this.#channels.findOne(meta.caller.tenant_id, { _id: channel_id });
    return requireFound(channel, "channel", channel_id);
  }

  /** Undoes an addition to a channel that was deleted meanwhile. @throws Fault not_found */
  async #keep({ tenant_id, channel_id }: MemberDoc | FeedDoc, undo: () => Promise<unknown>): Promise<void> {
    if (await this.#channels.exists(tenant_id, { _id: channel_id })) return;
    await undo();
    throw notFound("channel", channel_id);
  }

  async #empty(tenant_id: string, channel_id: string): Promise<void> {
    await this.feeds.deleteMany(tenant_id, { channel_id });
    await this.members.deleteMany(tenant_id, { channel_id });
  }

  #unlessTaken<T>(tenant_id: string, name = "", write: Promise<T>): Promise<T> {
    const message = () => `A channel named "${name}" already exists. Choose another name.`;
    return unlessTaken(this.#channels, tenant_id, { field: "name", holder: { name }, message }, write);
  }

  #now(): Date {
    return new Date(this.#store.now());
  }
}

const toChannel = (row: ChannelDoc) => presentAs(contract.Channel, row);

function selfOf(caller: Caller): string {
  if (caller.kind === "agent") return caller.agent_id;
  throw invalidValue("agent_id", "agent_id is required: only agents are members, and you are a person.", {
    value: null,
  });
}

function toMembership({ _id: id, channel_id, agent_id }: MemberDoc) {
  return { id, channel_id, agent_id };
}

const toMember = (row: MemberDoc) => presentAs(contract.Member, row);

function toSubscription({ _id: id, channel_id, event_type_glob: glob, filter_expression }: FeedDoc) {
  const filter = filter_expression === null ? {} : { filter: filter_expression };
  return { id, kind: "feed" as const, channel_id, glob, ...filter, priority: 0 };
}

const toFeed = (row: FeedDoc) => presentAs(contract.Feed, row);
