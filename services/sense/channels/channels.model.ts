import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** A named topic that agents join (spec: Channel). */
export interface ChannelDoc extends TenantDocument {
  name: string;
  description: string | null;
  created_at: Date;
  updated_at: Date;
}

/** An agent in a channel; `_id` is both their ids, so that it is there once. */
export interface MemberDoc extends TenantDocument {
  channel_id: string;
  agent_id: string;
  joined_at: Date;
}

/** Every event that matches goes to every member of the channel (spec: Channel feed). */
export interface FeedDoc extends TenantDocument {
  channel_id: string;
  event_type_glob: string;
  filter_expression: string | null;
  created_at: Date;
}

const channels = new Schema<ChannelDoc>(
  { _id: String, tenant_id: String, name: String, description: String, created_at: Date, updated_at: Date },
  { versionKey: false },
);
channels.index({ tenant_id: 1, name: 1 }, { unique: true });

const members = new Schema<MemberDoc>(
  { _id: String, tenant_id: String, channel_id: String, agent_id: String, joined_at: Date },
  { versionKey: false },
);
members.index({ tenant_id: 1, channel_id: 1, joined_at: 1 });
members.index({ tenant_id: 1, _id: 1 });

const feeds = new Schema<FeedDoc>(
  {
    _id: String,
    tenant_id: String,
    channel_id: String,
    event_type_glob: String,
    filter_expression: String,
    created_at: Date,
  },
  { versionKey: false },
);
feeds.index({ tenant_id: 1, channel_id: 1, created_at: 1 });
feeds.index({ tenant_id: 1, _id: 1 });

export const ChannelModel: Model<ChannelDoc> = { name: "channels", schema: channels };
export const MemberModel: Model<MemberDoc> = { name: "channel_members", schema: members };
export const FeedModel: Model<FeedDoc> = { name: "channel_feeds", schema: feeds };

export function memberId(channel_id: string, agent_id: string): string {
  return `${channel_id} ${agent_id}`;
}
