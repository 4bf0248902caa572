import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./channels.contract.ts";
import { Channels } from "./channels.ts";
import { Feeds, toSubscription } from "./feeds.ts";
import { Members, toMembership } from "./members.ts";

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
  const members = new Members(channels);
  const feeds = new Feeds(channels);

  return {
    name: "channels",
    actions: {
      create: action(contract.createChannel, (ctx) => channels.create(ctx)),
      list: action(contract.listChannels, (ctx) => channels.list(ctx)),
      get: action(contract.getChannel, (ctx) => channels.get(ctx)),
      update: action(contract.updateChannel, (ctx) => channels.update(ctx)),
      delete: action(contract.deleteChannel, (ctx) => channels.delete(ctx)),

      add_member: action(contract.addChannelMember, (ctx) => members.add(ctx)),
      list_members: action(contract.listChannelMembers, (ctx) => members.list(ctx)),
      remove_member: action(contract.removeChannelMember, (ctx) => members.remove(ctx)),

      create_feed: action(contract.createChannelFeed, (ctx) => feeds.create(ctx)),
      list_feeds: action(contract.listChannelFeeds, (ctx) => feeds.list(ctx)),
      delete_feed: action(contract.deleteChannelFeed, (ctx) => feeds.delete(ctx)),

      /** Return members and feeds of all the tenant's channels, for routing. */
      members_page: internal<Page>(async ({ params }) =>
        (await channels.members.find(params.tenant_id, ...pageOf(params))).map(toMembership),
      ),
      feeds_page: internal<Page>(async ({ params }) =>
        (await channels.feeds.find(params.tenant_id, ...pageOf(params))).map(toSubscription),
      ),
      /** Returns the feeds of an agent's channels, with the time since which the agent gets their events. */
      feeds_of_agent: idempotent<{ tenant_id: string; agent_id: string; limit: number }>(({ params }) =>
        feeds.ofAgent(params.tenant_id, params.agent_id, params.limit),
      ),
      /** Returns which of some agents are in a channel with a feed. */
      fed_agents: idempotent<{ tenant_id: string; agent_ids: string[] }>(({ params }) =>
        feeds.fedAgents(params.tenant_id, params.agent_ids),
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
