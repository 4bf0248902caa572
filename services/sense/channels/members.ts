import type { Caller } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { requireAgent } from "../../identity/agents/find-agent.ts";
import { changeRouting } from "../../identity/tenants/routing-change.ts";
import type { CallOf } from "../../runtime.ts";
import type * as contract from "./channels.contract.ts";
import { type MemberDoc, memberId } from "./channels.model.ts";
import type { Channels } from "./channels.ts";

/** The operations on channels' members. */
export class Members {
  readonly #channels: Channels;

  constructor(channels: Channels) {
    this.#channels = channels;
  }

  /** Adding a member again changes nothing. */
  async add(ctx: CallOf<typeof contract.addChannelMember>) {
    const { members } = this.#channels;
    const agent_id = ctx.params.agent_id ?? selfOf(ctx.meta.caller);
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    await requireAgent(ctx, agent_id);
    const _id = memberId(channel_id, agent_id);
    const row = { _id, tenant_id, channel_id, agent_id, joined_at: this.#channels.now() };
    await changeRouting(ctx, tenant_id, `member ${_id}`, async () => {
      if ((await members.insert(row).catch(nullIfTaken)) === null) ctx.meta.$statusCode = 200;
      await this.#channels.keep(row, () => members.delete(tenant_id, { _id }));
    });
    return present((await members.findOne(tenant_id, { _id })) ?? row);
  }

  async list(ctx: CallOf<typeof contract.listChannelMembers>) {
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const sort = { joined_at: 1, _id: 1 } as const;
    const { rows, total } = await this.#channels.members.page(tenant_id, { channel_id }, sort, ctx.params);
    return { members: rows.map(present), total };
  }

  async remove(ctx: CallOf<typeof contract.removeChannelMember>) {
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const { agent_id } = ctx.params;
    const _id = memberId(channel_id, agent_id);
    const removed = await changeRouting(ctx, tenant_id, `member ${_id}`, () =>
      this.#channels.members.delete(tenant_id, { _id }),
    );
    if (!removed) throw notFound("member", agent_id);
  }
}

function selfOf(caller: Caller): string {
  if (caller.kind === "agent") return caller.agent_id;
  throw invalidValue("agent_id", "agent_id is required: only agents are members, and you are a person.", {
    value: null,
  });
}

export function toMembership({ _id: id, channel_id, agent_id }: MemberDoc) {
  return { id, channel_id, agent_id };
}

function present({ channel_id, agent_id, joined_at }: MemberDoc) {
  return { channel_id, agent_id, joined_at };
}
