import type { InferSchemaType } from "mongoose";
import { date, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";

/** A named topic that agents join (spec: Channel). */
export interface ChannelDoc extends InferSchemaType<typeof channels> {}

const channels = tenantSchema({
  name: string(),
  description: nullable(string()),
  created_at: date(),
  updated_at: date(),
});
channels.index({ tenant_id: 1, name: 1 }, { unique: true });

/** An agent in a channel; `_id` combines their ids, so that each pair exists once. */
export interface MemberDoc extends InferSchemaType<typeof members> {}

const members = tenantSchema({
  channel_id: string(),
  agent_id: string(),
  joined_at: date(),
});
members.index({ tenant_id: 1, channel_id: 1, joined_at: 1 });
members.index({ tenant_id: 1, _id: 1 });
members.index({ tenant_id: 1, agent_id: 1 });

/** Sends every matching event to every member of the channel (spec: Channel feed). */
export interface FeedDoc extends InferSchemaType<typeof feeds> {}

const feeds = tenantSchema({
  channel_id: string(),
  event_type_glob: string(),
  filter_expression: nullable(string()),
  created_at: date(),
});
feeds.index({ tenant_id: 1, channel_id: 1, created_at: 1 });
feeds.index({ tenant_id: 1, _id: 1 });

export const ChannelModel: Model<ChannelDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "channels",
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
  schema: feeds,
};

export function memberId(channel_id: string, agent_id: string): string {
  return `${channel_id} ${agent_id}`;
}
