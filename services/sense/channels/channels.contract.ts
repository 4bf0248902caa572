import { Type } from "typebox";
import { component, nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { Description, Id, Name, page, partOf, Timestamp } from "../../../lib/contract/schema.ts";
import { FilterExpression, SubscriptionWarnings, TypeGlob } from "../../../lib/contract/subscription.ts";

const reader = { by: "any", scope: "channel:read" } as const;
const writer = { by: "any", scope: "channel:write" } as const;

export const Channel = component("Channel", {
  id: Id("ch"),
  name: Name,
  description: nullable(Description),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const Member = component("Member", { channel_id: Id("ch"), agent_id: Id("ag"), joined_at: Timestamp });

export const Feed = component("Feed", {
  id: Id("feed"),
  channel_id: Id("ch"),
  event_type_glob: TypeGlob,
  filter_expression: nullable(FilterExpression),
  created_at: Timestamp,
  warnings: SubscriptionWarnings,
});

export const createChannel = operation({
  action: "channels.create",
  route: "POST /channels",
  summary: "Create a channel",
  description:
    "Use this to deliver the same events to several agents: its members get what matches its feeds. Returns an empty channel: add feeds and members next.",
  access: writer,
  body: { name: Name, description: Type.Optional(nullable(Description)) },
  results: { 201: Channel },
  errors: ["conflict"],
  mcp: true,
});

export const listChannels = operation({
  action: "channels.list",
  route: "GET /channels",
  summary: "List channels by name",
  description: "Use this to find a channel to join. Returns one page and the `total`.",
  access: reader,
  query: {
    ...page,
    search: partOf("the name or the description"),
    feed_id: Type.Optional(Id("feed", "Only the channel with this feed.")),
  },
  answer: Type.Object({ channels: Type.Array(Channel), total: Type.Integer() }),
  mcp: true,
});

export const getChannel = operation({
  action: "channels.get",
  route: "GET /channels/{channel_id}",
  summary: "Read a channel",
  access: reader,
  answer: Channel,
});

export const updateChannel = operation({
  action: "channels.update",
  route: "PATCH /channels/{channel_id}",
  summary: "Rename or describe a channel",
  access: writer,
  body: optional({ name: Name, description: nullable(Description) }),
  answer: Channel,
  errors: ["conflict"],
});

export const deleteChannel = operation({
  action: "channels.delete",
  route: "DELETE /channels/{channel_id}",
  summary: "Delete a channel with its feeds and members",
  description: "Events matched before are still delivered.",
  access: writer,
});

export const addChannelMember = operation({
  action: "channels.add_member",
  route: "POST /channels/{channel_id}/members",
  summary: "Join a channel, or add an agent to it",
  description:
    "Use this to let an agent receive the events that match the channel's feeds. Returns the membership; an existing one does not change.",
  access: writer,
  body: { agent_id: Type.Optional(Id("ag", "Agent to add. Default: the calling agent.")) },
  results: { 201: Member, 200: Member },
  mcp: { idempotent: true },
});

export const listChannelMembers = operation({
  action: "channels.list_members",
  route: "GET /channels/{channel_id}/members",
  summary: "List the members of a channel, oldest first",
  description:
    "Use this to see who receives a channel's events. Returns the ids of the agents, and when each joined.",
  access: reader,
  query: page,
  answer: Type.Object({ members: Type.Array(Member), total: Type.Integer() }),
  mcp: true,
});

export const removeChannelMember = operation({
  action: "channels.remove_member",
  route: "DELETE /channels/{channel_id}/members/{agent_id}",
  summary: "Leave a channel, or remove an agent from it",
  access: writer,
});

export const createChannelFeed = operation({
  action: "channels.create_feed",
  route: "POST /channels/{channel_id}/feeds",
  summary: "Subscribe a channel to events",
  description:
    "Use this to choose the events of a channel: each that matches is delivered to every member. Returns the feed. A filter that does not compile is refused with `validation_error` and `details.position`.",
  access: writer,
  body: { event_type_glob: TypeGlob, filter_expression: Type.Optional(nullable(FilterExpression)) },
  results: { 201: Feed },
  errors: ["business_rule_violation"],
  mcp: true,
});

export const listChannelFeeds = operation({
  action: "channels.list_feeds",
  route: "GET /channels/{channel_id}/feeds",
  summary: "List the feeds of a channel, oldest first",
  access: reader,
  query: page,
  answer: Type.Object({ feeds: Type.Array(Feed), total: Type.Integer() }),
});

export const deleteChannelFeed = operation({
  action: "channels.delete_feed",
  route: "DELETE /channels/{channel_id}/feeds/{feed_id}",
  summary: "Delete a feed",
  access: writer,
});
