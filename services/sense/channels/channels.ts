import type { Call } from "../../../lib/access/caller.ts";
import { notFound, requireFound } from "../../../lib/contract/faults.ts";
import { defined } from "../../../lib/defined.ts";
import { newId } from "../../../lib/ids.ts";
import { containing } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { unlessTaken } from "../../../storage/writes.ts";
import { changeRouting } from "../../identity/tenants/routing-change.ts";
import type { CallOf } from "../../runtime.ts";
import type * as contract from "./channels.contract.ts";
import {
  type ChannelDoc,
  ChannelModel,
  type FeedDoc,
  FeedModel,
  type MemberDoc,
  MemberModel,
} from "./channels.model.ts";

/** The operations on channels. */
export class Channels {
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

  now(): Date {
    return new Date(this.#store.now());
  }

  async create({ params, meta }: CallOf<typeof contract.createChannel>) {
    const { name, description = null } = params;
    const { tenant_id } = meta.caller;
    const _id = newId("ch", meta.idempotency_seed);
    const at = this.now();
    const row = { _id, tenant_id, name, description, created_at: at, updated_at: at };
    return present(await this.#unlessTaken(tenant_id, name, this.#channels.insertOnce(row)));
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
    return { channels: rows.map(present), total };
  }

  async get(ctx: CallOf<typeof contract.getChannel>) {
    return present(await this.require(ctx));
  }

  async update({ params, meta }: CallOf<typeof contract.updateChannel>) {
    const { channel_id: _id, name, description } = params;
    const { tenant_id } = meta.caller;
    const $set = { ...defined({ name, description }), updated_at: this.now() };
    const update = this.#channels.update(tenant_id, { _id }, { $set });
    return present(requireFound(await this.#unlessTaken(tenant_id, name, update), "channel", _id));
  }

  async delete(ctx: CallOf<typeof contract.deleteChannel>) {
    const { tenant_id, _id } = await this.require(ctx);
    await changeRouting(ctx, tenant_id, `channel ${_id}`, async () => {
      // Before the channel, so that an interrupted deletion can be repeated; after it, for concurrent additions.
      await this.#empty(tenant_id, _id);
      await this.#channels.delete(tenant_id, { _id });
      await this.#empty(tenant_id, _id);
    });
  }

  /** Returns the channel of a call. @throws Fault not_found */
  async require({ params: { channel_id }, meta }: Call<{ channel_id: string }>): Promise<ChannelDoc> {
    const channel = await this.#channels.findOne(meta.caller.tenant_id, { _id: channel_id });
    return requireFound(channel, "channel", channel_id);
  }

  /** Undoes an addition to a channel that was deleted meanwhile. @throws Fault not_found */
  async keep({ tenant_id, channel_id }: MemberDoc | FeedDoc, undo: () => Promise<unknown>): Promise<void> {
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
}

function present({ _id: id, name, description, created_at, updated_at }: ChannelDoc) {
  return { id, name, description, created_at, updated_at };
}
