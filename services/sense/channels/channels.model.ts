import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A named topic that agents join (spec: Channel). */
export interface ChannelDoc extends DocumentOf<typeof channels> {}

const channels = tenantSchema({
  name: t.string(),
  description: t.nullable(t.string()),
  created_at: t.date(),
  updated_at: t.date(),
});
channels.index({ tenant_id: 1, name: 1 }, { unique: true });

/** An agent in a channel; `_id` combines their ids, so that each pair exists once. */
export interface MemberDoc extends DocumentOf<typeof members> {}

const members = tenantSchema({
  channel_id: t.string(),
  agent_id: t.string(),
  joined_at: t.date(),
});
members.index({ tenant_id: 1, channel_id: 1, joined_at: 1 });
members.index({ tenant_id: 1, _id: 1 });
members.index({ tenant_id: 1, agent_id: 1 });

/** Sends every matching event to every member of the channel (spec: Channel feed). */
export interface FeedDoc extends DocumentOf<typeof feeds> {}

const feeds = tenantSchema({
  channel_id: t.string(),
  event_type_glob: t.string(),
  filter_expression: t.nullable(t.string()),
  created_at: t.date(),
});
feeds.index({ tenant_id: 1, channel_id: 1, created_at: 1 });
feeds.index({ tenant_id: 1, _id: 1 });

export const ChannelModel: Model<ChannelDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "channels",
  ids: "ch",
  schema: channels,
};
export const MemberModel: Model<MemberDoc> = {
  erasure: { none: "ids", owner: ["agent_id"] },
  move: { stage: 0 },
  name: "channel_members",
  schema: members,
};
export const FeedModel: Model<FeedDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "channel_feeds",
  ids: "feed",
  schema: feeds,
};

export function memberId(channel_id: string, agent_id: string): string {
  return `${channel_id} ${agent_id}`;
}
