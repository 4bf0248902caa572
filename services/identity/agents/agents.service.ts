import type { Filter } from "mongodb";
import { AddressRefused, assertPublicUrl } from "../../../connectors/address-guard.ts";
import { type Call, callerId, isAdmin } from "../../../lib/access/caller.ts";
import { Fault, invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import { containing } from "../../../lib/text/containing.ts";
import { account } from "../../../mixins/audited.ts";
import { newSigningSecret, rotate, sealSigningSecret, secretsAt } from "../../../mixins/signing-secrets.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { raiseRouting } from "../../sense/interests/routing-change.ts";
import {
  createAgent,
  getAgent,
  listAgents,
  listOwnAgents,
  rotateSigningSecret,
  setAgentStatus,
  updateAgent,
} from "./agents.contract.ts";
import { type AgentDoc, AgentModel } from "./agents.model.ts";
import { changesOf, firstAgent, newAgent, present, type Settings, stateOf } from "./rows.ts";

interface AgentKey {
  tenant_id: string;
  agent_id: string;
}

export const agentsService: ServiceFactory = ({ store, secrets, config, resolver }) => {
  const agents = store.collection(AgentModel);

  /** Checks that references in the settings exist, and that pushes to the endpoint are allowed. */
  async function check(ctx: Call, { team_id, owner_user_id, delivery_endpoint }: Settings): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    if (team_id && (await ctx.call("teams.name_of", { tenant_id, team_id })) === null) {
      throw invalidValue("team_id", `There is no team ${team_id}.`);
    }
    if (owner_user_id && !(await ctx.call("users.exists", { tenant_id, user_id: owner_user_id }))) {
      throw invalidValue("owner_user_id", `There is no user ${owner_user_id}.`);
    }
    if (!delivery_endpoint) return;
    const resolve = (host: string) => resolver.resolve(host, shareOf(ctx.meta.caller));
    const allowPrivate = config.PUSH_ALLOW_PRIVATE;
    await assertPublicUrl(delivery_endpoint, { allowPrivate, resolve }).catch((err: Error) => {
      const unless = err instanceof AddressRefused ? " without PUSH_ALLOW_PRIVATE" : "";
      throw invalidValue("delivery_endpoint", `delivery_endpoint: ${err.message}${unless}.`);
    });
  }

  async function pageOf(tenant_id: string, filter: Filter<AgentDoc>, page: { skip: number; limit: number }) {
    const sort = { created_at: 1, _id: 1 } as const;
    const [docs, total] = await Promise.all([
      agents.find(tenant_id, filter, { sort, ...page }),
      agents.count(tenant_id, filter),
    ]);
    return { agents: docs.map(present), total };
  }

  /** Invalidates what other nodes cache of an agent. */
  async function announce(ctx: Call, { tenant_id, _id }: AgentDoc): Promise<void> {
    await ctx.broadcast("agents.changed", { tenant_id, agent_id: _id });
    await ctx.broadcast("auth.changed", { tenant_id, agent_id: _id });
  }

  return {
    name: "agents",
    actions: {
      create: action(createAgent, async (ctx) => {
        const { caller, idempotency_seed: seed } = ctx.meta;
        await check(ctx, ctx.params);
        const _id = newId("ag", seed);
        const signing_secret = newSigningSecret(secrets, seed);
        const owner_user_id = caller.kind === "user" ? caller.user_id : null;
        const row = newAgent(
          { owner_user_id, ...ctx.params },
          {
            _id,
            tenant_id: caller.tenant_id,
            at: new Date(store.now()),
            signing: sealSigningSecret(secrets, `agents/${_id}`, signing_secret),
          },
        );
        const agent = await agents.insertOnce(row);
        await announce(ctx, agent);
        return { ...present(agent), signing_secret };
      }),

      list: action(listAgents, async ({ params: { offset = 0, limit = 50, status, search }, meta }) => {
        const { tenant_id } = meta.caller;
        const part = search && containing(search);
        const filter = {
          ...(status && { status }),
          ...(part && { $or: [{ name: part }, { description: part }] }),
        };
        return pageOf(tenant_id, filter, { skip: offset, limit });
      }),

      list_own: action(listOwnAgents, ({ params: { offset = 0, limit = 50 }, meta: { caller } }) =>
        pageOf(caller.tenant_id, { owner_user_id: callerId(caller) }, { skip: offset, limit }),
      ),

      get: action(getAgent, async ({ params: { agent_id }, meta: { caller } }) => {
        const agent = await agents.findOne(caller.tenant_id, { _id: agent_id });
        if (!agent) throw notFound("agent", agent_id);
        const own =
          caller.kind === "agent" ? caller.agent_id === agent_id : caller.user_id === agent.owner_user_id;
        if (own || isAdmin(caller)) return present(agent);
        throw new Fault("insufficient_scope", "Reading another agent needs the scope admin.", {
          required_scope: "admin",
        });
      }),

      update: action(updateAgent, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { agent_id } = ctx.params;
        const known = await agents.findOne(tenant_id, { _id: agent_id });
        if (!known) throw notFound("agent", agent_id);
        await check(ctx, ctx.params);
        const changes = changesOf(ctx.params);
        if (Object.keys(changes).length === 0) return present(known);
        const $set = { ...changes, updated_at: new Date(store.now()) };
        const agent = await agents.update(tenant_id, { _id: agent_id }, { $set });
        if (!agent) throw notFound("agent", agent_id);
        await announce(ctx, agent);
        return present(agent);
      }),

      set_status: action(setAgentStatus, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { agent_id, status } = ctx.params;
        const $set = { status, updated_at: new Date(store.now()) };
        const $inc = { token_version: status === "inactive" ? 1 : 0 };
        const other = { _id: agent_id, status: { $ne: status } };
        const changed = await agents.update(tenant_id, other, { $set, $inc });
        const agent = changed ?? (await agents.findOne(tenant_id, { _id: agent_id }));
        if (!agent) throw notFound("agent", agent_id);
        // Also without a change: an earlier try may have been interrupted between the two writes.
        const routed = (doc: AgentDoc) =>
          ({ kind: "agent", agent_id, active: doc.status === "active" }) as const;
        await raiseRouting(ctx, tenant_id, routed(agent), async () =>
          routed((await agents.findOne(tenant_id, { _id: agent_id })) ?? agent),
        );
        await announce(ctx, agent);
        account(ctx, { status });
        return present(agent);
      }),

      rotate_signing_secret: action(rotateSigningSecret, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { agent_id } = ctx.params;
        const target = { tenant_id, id: agent_id, seed: ctx.meta.idempotency_seed };
        const signed = { rows: agents, secrets, owners: "agents", resource_type: "agent" };
        const { secret, previous_ends_at } = await rotate(signed, store.now(), target);
        await ctx.broadcast("agents.changed", { tenant_id, agent_id });
        return { signing_secret: secret, previous_ends_at: previous_ends_at.toISOString() };
      }),

      /** Inserts the first agent of a new tenant. */
      insert_first: internal<AgentKey & { owner_user_id: string }>(async ({ params }) => {
        const signing = sealSigningSecret(secrets, `agents/${params.agent_id}`, newSigningSecret(secrets));
        await agents.insertOnce(firstAgent(params, signing, new Date(store.now())));
      }),

      get_many: idempotent<{ tenant_id: string; agent_ids: string[] }>(async ({ params }) => {
        const docs = await agents.find(params.tenant_id, { _id: { $in: params.agent_ids } });
        return docs.map(stateOf);
      }),

      /** Returns the agents of a person, active or not. */
      owned_by: idempotent<{ tenant_id: string; user_id: string }>(async ({ params }) => {
        const filter = { owner_user_id: params.user_id };
        const docs = await agents.find(params.tenant_id, filter, { projection: { team_id: 1 } });
        return docs.map(({ _id: id, team_id }) => ({ id, team_id }));
      }),

      /** Like `get_many`, for agents named by verified tokens of any tenant. */
      of_tokens: idempotent<{ agent_ids: string[] }>(async ({ params }) => {
        const docs = await agents.system.find({ _id: { $in: params.agent_ids } }).toArray();
        return (docs as AgentDoc[]).map(stateOf);
      }),

      /** Returns the current signing secrets in plain text, newest first; empty if there is no such agent. */
      signing_secrets: internal<AgentKey>(async ({ params: { tenant_id, agent_id } }) => {
        const agent = await agents.findOne(tenant_id, { _id: agent_id });
        return agent ? secretsAt(secrets, `agents/${agent_id}`, agent.signing_secrets, store.now()) : [];
      }),

      /** Returns a page of the agents to push to, across tenants; or the named one, if it is. */
      push_targets: internal<{ agent_id: string } | { after: string; limit: number }>(async ({ params }) => {
        const one = "agent_id" in params;
        const filter = {
          ...{ delivery_mode: "push" as const, status: "active" as const, push_stopped: false },
          _id: one ? params.agent_id : { $gt: params.after },
          delivery_endpoint: { $ne: null },
        };
        const docs = await agents.system
          .find(filter, { sort: { _id: 1 }, limit: one ? 1 : params.limit })
          .toArray();
        return docs.map((doc) => ({
          tenant_id: doc.tenant_id,
          agent_id: doc._id,
          endpoint: doc.delivery_endpoint as string,
          format: doc.push_format ?? "structured",
        }));
      }),

      /** The endpoint answered 410: stops pushes. Returns whether it was still the agent's endpoint. */
      stop_push: internal<AgentKey & { endpoint: string }>(async (ctx) => {
        const { tenant_id, agent_id, endpoint } = ctx.params;
        const filter = { _id: agent_id, delivery_endpoint: endpoint };
        const agent = await agents.update(tenant_id, filter, { $set: { push_stopped: true } });
        if (agent) await ctx.broadcast("agents.changed", { tenant_id, agent_id });
        return agent !== null;
      }),
    },
  };
};
