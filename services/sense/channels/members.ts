import type { ActionSchema } from "moleculer";
import type { Call, Caller } from "../../../lib/access/caller.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { nullIfTaken, type TenantCollection } from "../../../storage/collection.ts";
import { action, internal } from "../../runtime.ts";
import { type RoutingChange, raiseRouting } from "../interests/routing-change.ts";
import * as contract from "./channels.contract.ts";
import { type MemberDoc, memberId } from "./channels.model.ts";

interface Parts {
  members: TenantCollection<MemberDoc>;
  /** Throws not_found. */
  find(tenant_id: string, channel_id: string): Promise<unknown>;
  /** Throws not_found after undoing the addition to the channel. */
  keep(tenant_id: string, channel_id: string, undo: () => Promise<unknown>): Promise<void>;
  now(): Date;
}

/** The channels service's actions on members. */
export function memberActions({ members, find, keep, now }: Parts): Record<string, ActionSchema> {
  /** Returns whether the row is new: adding a member again changes nothing. */
  async function insert(row: MemberDoc): Promise<boolean> {
    return (await members.insert(row).catch(nullIfTaken)) !== null;
  }

  /** Returns the agent's current membership as a routing change. */
  async function routed(ctx: Call, channel_id: string, agent_id: string): Promise<RoutingChange> {
    const { tenant_id } = ctx.meta.caller;
    const [isMember, agent] = await Promise.all([
      members.exists(tenant_id, { _id: memberId(channel_id, agent_id) }),
      agentOf(ctx, agent_id),
    ]);
    if (!isMember) return { kind: "leave", channel_id, agent_id };
    return { kind: "join", channel_id, agent_id, agent_active: agent?.status === "active" };
  }

  return {
    add_member: action(contract.addMember, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { channel_id } = ctx.params;
      const agent_id = ctx.params.agent_id ?? selfOf(ctx.meta.caller);
      await find(tenant_id, channel_id);
      const agent = await agentOf(ctx, agent_id);
      if (!agent) throw notFound("agent", agent_id);
      const row = { _id: memberId(channel_id, agent_id), tenant_id, channel_id, agent_id, joined_at: now() };
      if (!(await insert(row))) ctx.meta.$statusCode = 200;
      await keep(tenant_id, channel_id, () => members.delete(tenant_id, { _id: row._id }));
      const agent_active = agent.status === "active";
      const joined = { kind: "join", channel_id, agent_id, agent_active } as const;
      await raiseRouting(ctx, tenant_id, joined, () => routed(ctx, channel_id, agent_id));
      return present((await members.findOne(tenant_id, { _id: row._id })) ?? row);
    }),

    list_members: action(
      contract.listMembers,
      async ({ params: { channel_id, offset = 0, limit = 50 }, meta }) => {
        const { tenant_id } = meta.caller;
        await find(tenant_id, channel_id);
        const sort = { joined_at: 1, _id: 1 } as const;
        const [rows, total] = await Promise.all([
          members.find(tenant_id, { channel_id }, { sort, skip: offset, limit }),
          members.count(tenant_id, { channel_id }),
        ]);
        return { members: rows.map(present), total };
      },
    ),

    remove_member: action(contract.removeMember, async (ctx) => {
      const { tenant_id } = ctx.meta.caller;
      const { channel_id, agent_id } = ctx.params;
      await find(tenant_id, channel_id);
      const removed = await members.delete(tenant_id, { _id: memberId(channel_id, agent_id) });
      if (!removed) throw notFound("member", agent_id);
      const left = { kind: "leave", channel_id, agent_id } as const;
      await raiseRouting(ctx, tenant_id, left, () => routed(ctx, channel_id, agent_id));
    }),

    /** Returns members of all the tenant's channels, for routing: the page after an id. */
    members_page: internal<{ tenant_id: string; after: string; limit: number }>(async ({ params }) => {
      const { tenant_id, after, limit } = params;
      const rows = await members.find(tenant_id, { _id: { $gt: after } }, { sort: { _id: 1 }, limit });
      return rows.map(({ _id, channel_id, agent_id }) => ({ id: _id, channel_id, agent_id }));
    }),
  };
}

/** Returns an agent of the caller's tenant. */
async function agentOf(ctx: Call, agent_id: string): Promise<{ status: string } | undefined> {
  const asked = { tenant_id: ctx.meta.caller.tenant_id, agent_ids: [agent_id] };
  const [agent] = await ctx.call<{ status: string }[], unknown>("agents.get_many", asked);
  return agent;
}

function selfOf(caller: Caller): string {
  if (caller.kind === "agent") return caller.agent_id;
  throw invalidValue("agent_id", "agent_id: expected the agent to add; a user is no agent.", { value: null });
}

function present({ channel_id, agent_id, joined_at }: MemberDoc) {
  return { channel_id, agent_id, joined_at: joined_at.toISOString() };
}
