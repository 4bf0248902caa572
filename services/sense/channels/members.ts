import type { Call, Caller } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { nullIfTaken } from "../../../storage/collection.ts";
import { findAgent, requireAgent } from "../../identity/agents/find-agent.ts";
import type { CallOf } from "../../runtime.ts";
import { type RoutingChange, raiseRouting } from "../interests/routing-change.ts";
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
  async add(ctx: CallOf<typeof contract.addMember>) {
    const { members } = this.#channels;
    const agent_id = ctx.params.agent_id ?? selfOf(ctx.meta.caller);
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const { status } = await requireAgent(ctx, agent_id);
    const _id = memberId(channel_id, agent_id);
    const row = { _id, tenant_id, channel_id, agent_id, joined_at: this.#channels.now() };
    if ((await members.inOrder(() => members.insert(row)).catch(nullIfTaken)) === null)
      ctx.meta.$statusCode = 200;
    await this.#channels.keep(row, () => members.delete(tenant_id, { _id }));
    const joined = { kind: "join", channel_id, agent_id, agent_active: status === "active" } as const;
    await raiseRouting(ctx, tenant_id, joined, () => this.#routed(ctx, channel_id, agent_id));
    return present((await members.findOne(tenant_id, { _id })) ?? row);
  }

  async list(ctx: CallOf<typeof contract.listMembers>) {
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const sort = { joined_at: 1, _id: 1 } as const;
    const { rows, total } = await this.#channels.members.page(tenant_id, { channel_id }, sort, ctx.params);
    return { members: rows.map(present), total };
  }

  async remove(ctx: CallOf<typeof contract.removeMember>) {
    const { tenant_id, _id: channel_id } = await this.#channels.require(ctx);
    const { agent_id } = ctx.params;
    const removed = await this.#channels.members.delete(tenant_id, { _id: memberId(channel_id, agent_id) });
    if (!removed) throw notFound("member", agent_id);
    const left = { kind: "leave", channel_id, agent_id } as const;
    await raiseRouting(ctx, tenant_id, left, () => this.#routed(ctx, channel_id, agent_id));
  }

  /** Returns members of all the tenant's channels: the page after an id. */
  async page(tenant_id: string, after: string, limit: number) {
    const options = { sort: { _id: 1 } as const, limit };
    const rows = await this.#channels.members.find(tenant_id, { _id: { $gt: after } }, options);
    return rows.map(({ _id, channel_id, agent_id }) => ({ id: _id, channel_id, agent_id }));
  }

  /** Returns the agent's current membership as a routing change. */
  async #routed(ctx: Call, channel_id: string, agent_id: string): Promise<RoutingChange> {
    const [isMember, agent] = await Promise.all([
      this.#channels.members.exists(ctx.meta.caller.tenant_id, { _id: memberId(channel_id, agent_id) }),
      findAgent(ctx, agent_id),
    ]);
    if (!isMember) return { kind: "leave", channel_id, agent_id };
    return { kind: "join", channel_id, agent_id, agent_active: agent?.status === "active" };
  }
}

function selfOf(caller: Caller): string {
  if (caller.kind === "agent") return caller.agent_id;
  throw invalidValue("agent_id", "agent_id: required, because the caller is a person.", { value: null });
}

function present({ channel_id, agent_id, joined_at }: MemberDoc) {
  return { channel_id, agent_id, joined_at: joined_at.toISOString() };
}
