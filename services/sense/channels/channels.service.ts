import type { ServiceSchema } from "moleculer";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
import { action, type Runtime } from "../../runtime.ts";
import { raiseRouting } from "../interests/routing-change.ts";
import * as contract from "./channels.contract.ts";
import { type ChannelDoc, ChannelModel, FeedModel, MemberModel } from "./channels.model.ts";
import { feedActions } from "./feeds.ts";
import { memberActions } from "./members.ts";

export function channelsService({ store }: Runtime): ServiceSchema {
  const channels = store.collection(ChannelModel);
  const members = store.collection(MemberModel);
  const feeds = store.collection(FeedModel);
  const now = () => new Date(store.now());

  async function find(tenant_id: string, channel_id: string): Promise<ChannelDoc> {
    const channel = await channels.findOne(tenant_id, { _id: channel_id });
    if (!channel) throw notFound("channel", channel_id);
    return channel;
  }

  /** Undoes an addition to a channel that was deleted meanwhile. @throws Fault not_found */
  async function keep(tenant_id: string, channel_id: string, undo: () => Promise<unknown>): Promise<void> {
    if (await channels.exists(tenant_id, { _id: channel_id })) return;
    await undo();
    throw notFound("channel", channel_id);
  }

  async function empty(tenant_id: string, channel_id: string): Promise<void> {
    await feeds.deleteMany(tenant_id, { channel_id });
    await members.deleteMany(tenant_id, { channel_id });
  }

  /** Runs a write whose unique field is the name. */
  async function unlessTaken<T>(tenant_id: string, name: string | undefined, write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (err) {
      if (!isDuplicateKey(err) || name === undefined) throw err;
      const holder = await channels.findOne(tenant_id, { name });
      throw new Fault("conflict", `There is a channel named "${name}" already.`, {
        field: "name",
        existing_resource_id: holder?._id ?? null,
      });
    }
  }

  return {
    name: "channels",
    actions: {
      create: action(contract.createChannel, async ({ params, meta }) => {
        const { name, description = null } = params;
        const { tenant_id } = meta.caller;
        const _id = newId("ch", meta.idempotency_seed);
        const row = { _id, tenant_id, name, description, created_at: now(), updated_at: now() };
        return present(await unlessTaken(tenant_id, name, channels.insertOnce(row)));
      }),

      list: action(
        contract.listChannels,
        async ({ params: { offset = 0, limit = 50, search, feed_id }, meta }) => {
          const { tenant_id } = meta.caller;
          const part = search && containing(search);
          const feed = feed_id && (await feeds.findOne(tenant_id, { _id: feed_id }));
          const filter = {
            ...(part && { $or: [{ name: part }, { description: part }] }),
            ...(feed_id && { _id: feed ? feed.channel_id : "none" }),
          };
          const [rows, total] = await Promise.all([
            channels.find(tenant_id, filter, { sort: { name: 1 }, skip: offset, limit }),
            channels.count(tenant_id, filter),
          ]);
          return { channels: rows.map(present), total };
        },
      ),

      get: action(contract.getChannel, async ({ params, meta }) =>
        present(await find(meta.caller.tenant_id, params.channel_id)),
      ),

      update: action(contract.updateChannel, async ({ params: { channel_id, name, description }, meta }) => {
        const { tenant_id } = meta.caller;
        const $set = {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          updated_at: now(),
        };
        const row = await unlessTaken(
          tenant_id,
          name,
          channels.update(tenant_id, { _id: channel_id }, { $set }),
        );
        if (!row) throw notFound("channel", channel_id);
        return present(row);
      }),

      delete: action(contract.deleteChannel, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { channel_id } = ctx.params;
        await find(tenant_id, channel_id);
        // Before the channel, so that an interrupted deletion can be repeated; after it, for concurrent additions.
        await empty(tenant_id, channel_id);
        await channels.delete(tenant_id, { _id: channel_id });
        await empty(tenant_id, channel_id);
        await raiseRouting(ctx, tenant_id);
      }),

      ...memberActions({ members, find, keep, now }),
      ...feedActions({ feeds, find, keep, now }),
    },
  };
}

function present({ _id, name, description, created_at, updated_at }: ChannelDoc) {
  return {
    id: _id,
    name,
    description,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
