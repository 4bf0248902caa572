import type { OfAgent, OfUser } from "../../../lib/access/caller.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { announceAuthChange } from "../tenants/routing-change.ts";
import * as contract from "./agents.contract.ts";
import { type AgentDoc, AgentModel } from "./agents.model.ts";
import { Agents, type CallableQuery, newAgent, type PushTargetQuery, toState } from "./agents.ts";
import { newSigningSecret, sealSigningSecret, secretsAt } from "./signing-secrets.ts";

export const agentsService: ServiceFactory = (runtime) => {
  const { store, secrets } = runtime;
  const rows = store.collection(AgentModel);
  const agents = new Agents(runtime, rows);

  return {
    name: "agents",
    actions: {
      create: action(contract.createAgent, (ctx) => agents.create(ctx)),
      list: action(contract.listAgents, (ctx) => agents.list(ctx)),
      list_own: action(contract.listOwnAgents, (ctx) => agents.listOwn(ctx)),
      get: action(contract.getAgent, (ctx) => agents.get(ctx)),
      update: action(contract.updateAgent, (ctx) => agents.update(ctx)),
      set_status: action(contract.setAgentStatus, (ctx) => agents.setStatus(ctx)),
      delete: action(contract.deleteAgent, (ctx) => agents.delete(ctx)),
      end: idempotent<{ tenant_id: string; owner_id: string; erased: boolean }>((ctx) => agents.end(ctx)),
      rotate_signing_secret: action(contract.rotateAgentSigningSecret, (ctx) =>
        agents.rotateSigningSecret(ctx),
      ),

      /** Inserts the first agent of a new tenant. */
      insert_first: internal<OfAgent & { owner_user_id: string }>(async ({ params }) => {
        const { tenant_id, agent_id: _id, owner_user_id } = params;
        const signing = sealSigningSecret(secrets, `agents/${_id}`, newSigningSecret(secrets));
        const settings = { name: "default", delivery_mode: "poll", owner_user_id } as const;
        await rows.insertOnce(newAgent(settings, { _id, tenant_id, at: new Date(store.now()), signing }));
      }),

      get_many: idempotent<{ tenant_id: string; agent_ids: string[] }>(async ({ params }) =>
        (await rows.find(params.tenant_id, { _id: { $in: params.agent_ids } })).map(toState),
      ),

      /** Gives the agents of a person another owner, or none. */
      change_owner: idempotent<{ tenant_id: string; from: string; to: string | null }>(async (ctx) => {
        const { tenant_id, from, to: owner_user_id } = ctx.params;
        const $set = { owner_user_id, updated_at: new Date(store.now()) };
        const changed = await rows.updateMany(tenant_id, { owner_user_id: from }, { $set });
        if (changed) await announceAuthChange(ctx, { tenant_id });
        return changed;
      }),

      /** Removes all agents of a team from it. Returns their number. */
      leave_team: idempotent<{ tenant_id: string; team_id: string }>((ctx) => agents.leaveTeam(ctx)),

      /** Returns the agents of a person, active or not. */
      owned_by: idempotent<OfUser>(async ({ params }) => {
        const filter = { owner_user_id: params.user_id };
        const docs = await rows.find(params.tenant_id, filter, { projection: { team_id: 1 } });
        return docs.map(({ _id: id, team_id }) => ({ id, team_id }));
      }),

      /** Returns the people who own agents in these teams. */
      owners_in: idempotent<{ tenant_id: string; team_ids: string[] }>(async ({ params }) => {
        const filter = { team_id: { $in: params.team_ids }, owner_user_id: { $ne: null } };
        const docs = await rows.find(params.tenant_id, filter, { projection: { owner_user_id: 1 } });
        return [...new Set(docs.map(({ owner_user_id }) => owner_user_id as string))];
      }),

      /** Like `get_many`, for agents named by verified tokens of any tenant. */
      of_tokens: idempotent<{ agent_ids: string[] }>(async ({ params }) => {
        const docs = await rows.system.find({ _id: { $in: params.agent_ids } }).toArray();
        return (docs as AgentDoc[]).map(toState);
      }),

      /** Returns what the public card of an agent of any tenant shows; null unless it is active and has A2A enabled. */
      card: idempotent<{ agent_id: string }>(async ({ params: { agent_id: _id } }) => {
        const agent = (await rows.system.findOne({ _id, status: "active", a2a: true })) as AgentDoc | null;
        return agent && { name: agent.name, description: agent.description };
      }),

      /** Returns a page of a tenant's agents with A2A enabled, oldest first. @throws Fault validation_failed */
      callable: idempotent<CallableQuery>(({ params }) => agents.findCallable(params)),

      /** Returns the current signing secrets in plain text, newest first; empty if there is no such agent. */
      signing_secrets: internal<OfAgent>(async ({ params: { tenant_id, agent_id } }) => {
        const agent = await rows.findOne(tenant_id, { _id: agent_id });
        return agent ? secretsAt(secrets, `agents/${agent_id}`, agent.signing_secrets, store.now()) : [];
      }),

      /** Returns the ids of active agents whose endpoints answered 410. */
      push_stopped: idempotent<{ tenant_id: string }>(async ({ params }) => {
        const filter = { status: "active" as const, delivery_mode: "push" as const, push_stopped: true };
        const found = await rows.find(params.tenant_id, filter, { projection: { _id: 1 }, limit: 1000 });
        return found.map(({ _id }) => _id);
      }),

      /** Returns active agents, oldest first. */
      receivers: idempotent<{ tenant_id: string; limit: number }>(
        async ({ params: { tenant_id, limit } }) => {
          const options = { sort: { created_at: 1, _id: 1 }, limit } as const;
          return (await rows.find(tenant_id, { status: "active" }, options)).map(toState);
        },
      ),

      push_targets: internal<PushTargetQuery>(({ params }) => agents.findPushTargets(params)),

      /** The endpoint answered 410: stops pushes. Returns whether it was still the agent's endpoint. */
      stop_push: internal<OfAgent & { endpoint: string }>(async (ctx) => {
        const { tenant_id, agent_id, endpoint } = ctx.params;
        const filter = { _id: agent_id, delivery_endpoint: endpoint };
        const agent = await rows.update(tenant_id, filter, { $set: { push_stopped: true } });
        if (agent) await ctx.broadcast("agents.changed", { tenant_id, agent_id });
        return agent !== null;
      }),
    },
  };
};
