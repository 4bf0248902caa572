import { type Call, callerId, isAdmin } from "../../../lib/access/caller.ts";
import { lacksScope, requireFound, ruleBroken, unknownReference } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import type { SigningSecret } from "../../../lib/crypto/secrets.ts";
import { defined } from "../../../lib/defined.ts";
import { newId } from "../../../lib/ids.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import { containing } from "../../../lib/text/containing.ts";
import { account } from "../../../middlewares/audit.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import { requirePublicUrl } from "../../outgoing.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import { announceAuthChange, changeRouting } from "../tenants/routing-change.ts";
import type * as contract from "./agents.contract.ts";
import { Agent, type AgentState, type DeliveryHealth, type DeliveryMode } from "./agents.contract.ts";
import type { AgentDoc } from "./agents.model.ts";
import { newSigningSecret, rotate, sealSigningSecret } from "./signing-secrets.ts";

/** Selects the agents to push to, across tenants: a page by id, or the named one, if it is to be pushed to. */
export type PushTargetQuery = { agent_id: string } | { after: string; limit: number };

/** Agents in a page of the catalogue of those that can be called over A2A. */
const CATALOG_PAGE = 200;

export interface CallableQuery {
  tenant_id: string;
  cursor?: string;
}

export interface CallablePage {
  agents: { id: string; name: string; description: string | null; updated_at: string }[];
  next_cursor: string | null;
}

export class Agents {
  readonly #runtime: Runtime;
  readonly #rows: TenantCollection<AgentDoc>;

  constructor(runtime: Runtime, rows: TenantCollection<AgentDoc>) {
    this.#runtime = runtime;
    this.#rows = rows;
  }

  async create(ctx: CallOf<typeof contract.createAgent>) {
    const { secrets, store } = this.#runtime;
    const { caller, idempotency_seed: seed } = ctx.meta;
    await this.#check(ctx, ctx.params);
    const _id = newId("ag", seed);
    const signing_secret = newSigningSecret(secrets, seed);
    const signing = sealSigningSecret(secrets, `agents/${_id}`, signing_secret);
    const owner_user_id = caller.kind === "user" ? caller.user_id : null;
    const key = { _id, tenant_id: caller.tenant_id, at: new Date(store.now()), signing };
    const agent = await this.#rows.insertOnce(newAgent({ owner_user_id, ...ctx.params }, key));
    await ctx.broadcast("agents.changed", { tenant_id: agent.tenant_id, agent_id: agent._id });
    return { ...present(agent), signing_secret };
  }

  async list(ctx: CallOf<typeof contract.listAgents>) {
    const { params } = ctx;
    const { tenant_id } = ctx.meta.caller;
    const part = params.search && containing(params.search);
    const filter = {
      ...(params.status && { status: params.status }),
      ...(part && { $or: [{ name: part }, { description: part }] }),
    };
    const byAttention = params.needs_attention || params.sort === "attention";
    const { rows, total } = byAttention
      ? await pageByAttention(ctx, this.#rows, filter, params)
      : await this.#rows.page(tenant_id, filter, BY_AGE, params);
    return { agents: await presentAll(ctx, rows, params), total };
  }

  async listOwn(ctx: CallOf<typeof contract.listOwnAgents>) {
    const { caller } = ctx.meta;
    const filter = { owner_user_id: callerId(caller) };
    const { rows, total } = await this.#rows.page(caller.tenant_id, filter, BY_AGE, ctx.params);
    return { agents: await presentAll(ctx, rows, ctx.params), total };
  }

  async get(ctx: CallOf<typeof contract.getAgent>) {
    const { caller } = ctx.meta;
    const { agent_id } = ctx.params;
    const agent = await this.#find(caller.tenant_id, agent_id);
    const own =
      caller.kind === "agent" ? caller.agent_id === agent_id : caller.user_id === agent.owner_user_id;
    if (own || isAdmin(caller)) return (await presentAll(ctx, [agent], ctx.params))[0];
    throw lacksScope("admin", "Reading another agent needs the scope admin: use a key that has it.");
  }

  async update(ctx: CallOf<typeof contract.updateAgent>) {
    const { tenant_id } = ctx.meta.caller;
    const { agent_id } = ctx.params;
    const known = await this.#find(tenant_id, agent_id);
    await this.#check(ctx, ctx.params);
    const changes = toChanges(ctx.params);
    if (Object.keys(changes).length === 0) return present(known);
    const $set = { ...changes, updated_at: new Date(this.#runtime.store.now()) };
    const { owner_user_id = known.owner_user_id } = changes;
    const $inc = { owner_version: owner_user_id === known.owner_user_id ? 0 : 1 };
    const written = await this.#rows.update(tenant_id, { _id: agent_id }, { $set, $inc });
    const agent = requireFound(written, "agent", agent_id);
    await this.#announce(ctx, agent);
    return present(agent);
  }

  async setStatus(ctx: CallOf<typeof contract.setAgentStatus>) {
    const { tenant_id } = ctx.meta.caller;
    const { agent_id, status } = ctx.params;
    const $set = { status, updated_at: new Date(this.#runtime.store.now()) };
    const $inc = { token_version: status === "inactive" ? 1 : 0 };
    const other = { _id: agent_id, status: { $ne: status } };
    // Raise routing without a change too: an earlier try can have ended before that.
    const changed = await changeRouting(ctx, tenant_id, `agent ${agent_id}`, () =>
      this.#rows.update(tenant_id, other, { $set, $inc }),
    );
    const agent = changed ?? (await this.#find(tenant_id, agent_id));
    await this.#announce(ctx, agent);
    account(ctx, { status });
    return present(agent);
  }

  /** Deletes an agent with what is its own. @throws Fault not_found, business_rule_violation */
  async delete(ctx: CallOf<typeof contract.deleteAgent>) {
    const { caller } = ctx.meta;
    const { agent_id, shared = "keep" } = ctx.params;
    await this.#find(caller.tenant_id, agent_id);
    if (callerId(caller) === agent_id)
      throw ruleBroken(
        "own_account",
        "An agent cannot delete itself. Use another key or a person's account.",
      );
    account(ctx, { shared });
    const owner = { tenant_id: caller.tenant_id, owner_id: agent_id, shared };
    return { id: agent_id, ...(await ctx.call<object, object>("memories.erase_owner", owner)) };
  }

  /** Ends the tokens and pushes of an agent that is being deleted, or deletes the row of one whose data is erased. */
  async end(ctx: Call<{ tenant_id: string; owner_id: string; erased: boolean }>): Promise<void> {
    const { tenant_id, owner_id: _id, erased } = ctx.params;
    const agent = await this.#rows.findOne(tenant_id, { _id });
    const update = { $set: { status: "inactive" as const }, $inc: { token_version: 1 } };
    await changeRouting(ctx, tenant_id, `agent ${_id}`, async () => {
      if (erased) await this.#rows.delete(tenant_id, { _id });
      else await this.#rows.update(tenant_id, { _id }, update);
    });
    await this.#announce(ctx, agent ?? { tenant_id, _id });
  }

  async leaveTeam(ctx: Call<{ tenant_id: string; team_id: string }>): Promise<number> {
    const { tenant_id, team_id } = ctx.params;
    const members = await this.#rows.find(tenant_id, { team_id }, { projection: { _id: 1 } });
    if (members.length === 0) return 0;
    const $set = { team_id: null, updated_at: new Date(this.#runtime.store.now()) };
    const left = await this.#rows.updateMany(tenant_id, { team_id }, { $set });
    for (const { _id } of members) await this.#announce(ctx, { tenant_id, _id });
    return left;
  }

  async rotateSigningSecret(ctx: CallOf<typeof contract.rotateAgentSigningSecret>) {
    const { secrets, store } = this.#runtime;
    const { tenant_id } = ctx.meta.caller;
    const { agent_id } = ctx.params;
    const target = { tenant_id, id: agent_id, seed: ctx.meta.idempotency_seed };
    const signed = { rows: this.#rows, secrets, owners: "agents", resource_type: "agent" };
    const rotated = await rotate(signed, store.now(), target);
    await ctx.broadcast("agents.changed", { tenant_id, agent_id });
    return rotated;
  }

  async findPushTargets(query: PushTargetQuery) {
    const one = "agent_id" in query;
    const pushed = { delivery_mode: "push" as const, status: "active" as const, push_stopped: false };
    const _id = one ? query.agent_id : { $gt: query.after };
    const filter = { ...pushed, _id, delivery_endpoint: { $ne: null } };
    const options = { sort: { _id: 1 } as const, limit: one ? 1 : query.limit };
    const docs = (await this.#rows.system.find(filter, options).toArray()) as AgentDoc[];
    return docs.map(({ tenant_id, _id: agent_id, delivery_endpoint, push_format: format, ...limits }) => ({
      tenant_id,
      agent_id,
      endpoint: delivery_endpoint as string,
      format,
      is_limited: (limits.max_in_flight ?? limits.max_per_minute ?? null) !== null,
    }));
  }

  async findCallable({ tenant_id, cursor }: CallableQuery): Promise<CallablePage> {
    const order = { by: "created_at", sign: 1, cursor, limit: CATALOG_PAGE } as const;
    const callable = { status: "active", a2a: true } as const;
    const { page, next_cursor } = await this.#rows.pageAfter(tenant_id, callable, order);
    const agents = page.map(({ _id: id, name, description, updated_at }) => ({
      ...{ id, name, description },
      updated_at: updated_at.toISOString(),
    }));
    return { agents, next_cursor };
  }

  /** Invalidates what other nodes cache of an agent. */
  async #announce(
    ctx: Call,
    { tenant_id, _id: agent_id }: Pick<AgentDoc, "tenant_id" | "_id">,
  ): Promise<void> {
    await ctx.broadcast("agents.changed", { tenant_id, agent_id });
    await announceAuthChange(ctx, { tenant_id, agent_id });
  }

  async #find(tenant_id: string, agent_id: string): Promise<AgentDoc> {
    return requireFound(await this.#rows.findOne(tenant_id, { _id: agent_id }), "agent", agent_id);
  }

  /** Checks that references in the settings exist, and that pushes to the endpoint are allowed. */
  async #check(ctx: Call, { team_id, owner_user_id, delivery_endpoint }: Settings): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    if (team_id && (await ctx.call("teams.name_of", { tenant_id, team_id })) === null) {
      throw unknownReference("team_id", "team", team_id);
    }
    if (owner_user_id && !(await ctx.call("users.exists", { tenant_id, user_id: owner_user_id }))) {
      throw unknownReference("owner_user_id", "user", owner_user_id);
    }
    if (!delivery_endpoint) return;
    await requirePublicUrl(this.#runtime, shareOf(ctx.meta.caller), "delivery_endpoint", delivery_endpoint);
  }
}

const BY_AGE = { created_at: 1, _id: 1 } as const;

interface Page {
  limit?: number;
  offset?: number;
  needs_attention?: boolean;
}

/** Formats agents for callers, with the health of their deliveries if they asked for it. */
async function presentAll(ctx: Call, rows: AgentDoc[], { include }: { include?: "delivery" }) {
  if (include === undefined || rows.length === 0) return rows.map(present);
  const { tenant_id } = ctx.meta.caller;
  const params = { tenant_id, agents: rows.map(toState) };
  const health = await ctx.call<Record<string, DeliveryHealth>, object>("deliveries.health", params);
  return rows.map((row) => ({ ...present(row), delivery: health[row._id] }));
}

/** Returns a page of the agents that need attention, the worst first; unless only they are wanted, the others follow. */
async function pageByAttention(
  ctx: Call,
  agents: TenantCollection<AgentDoc>,
  filter: Where<AgentDoc>,
  { limit = 50, offset = 0, needs_attention = false }: Page,
): Promise<{ rows: AgentDoc[]; total: number }> {
  const { tenant_id } = ctx.meta.caller;
  const ids = await ctx.call<string[], object>("deliveries.agents_needing_attention", { tenant_id });
  const page = await agents.find(tenant_id, { ...filter, _id: { $in: ids } });
  const byId = new Map(page.map((row) => [row._id, row]));
  const needing = ids.flatMap((id) => byId.get(id) ?? []);
  const first = needing.slice(offset, offset + limit);
  if (needs_attention) return { rows: first, total: needing.length };
  const others = { ...filter, _id: { $nin: [...byId.keys()] } };
  const left = limit - first.length;
  const skip = Math.max(0, offset - needing.length);
  const [rest, count] = await Promise.all([
    left > 0 ? agents.find(tenant_id, others, { sort: BY_AGE, skip, limit: left }) : [],
    agents.count(tenant_id, others),
  ]);
  return { rows: [...first, ...rest], total: needing.length + count };
}

const SETTABLE = [
  "name",
  "description",
  "delivery_mode",
  "delivery_endpoint",
  "push_format",
  "a2a",
  "team_id",
  "owner_user_id",
  "visibility_timeout_seconds",
  "retry_budget",
  "retry_delays_seconds",
  "max_in_flight",
  "max_per_minute",
] as const satisfies (keyof AgentDoc)[];

/** Settings that callers may change; absent ones stay unchanged. */
type Settings = Partial<Pick<AgentDoc, (typeof SETTABLE)[number]>>;

/** Returns the fields to write for an update. Setting an endpoint, even the same, resumes pushes. */
function toChanges(settings: Settings): Settings & { push_stopped?: false } {
  const changes: Settings = defined(Object.fromEntries(SETTABLE.map((field) => [field, settings[field]])));
  return settings.delivery_endpoint === undefined ? changes : { ...changes, push_stopped: false };
}

interface Beginning {
  _id: string;
  tenant_id: string;
  at: Date;
  signing: SigningSecret;
}

export function newAgent(
  settings: Settings & { name: string; delivery_mode: DeliveryMode },
  { _id, tenant_id, at, signing }: Beginning,
): AgentDoc {
  return {
    description: null,
    delivery_endpoint: null,
    push_format: "structured",
    a2a: false,
    team_id: null,
    owner_user_id: null,
    visibility_timeout_seconds: null,
    retry_budget: null,
    retry_delays_seconds: null,
    max_in_flight: null,
    max_per_minute: null,
    name: settings.name,
    delivery_mode: settings.delivery_mode,
    ...toChanges(settings),
    _id,
    tenant_id,
    status: "active",
    push_stopped: false,
    token_version: 0,
    owner_version: 0,
    signing_secrets: [signing],
    signing_version: 1,
    created_at: at,
    updated_at: at,
  };
}

/** Returns an agent's state for other domains. */
export function toState(agent: AgentDoc): AgentState {
  const { _id: id, description, signing_secrets, signing_version, updated_at, ...state } = agent;
  return { id, ...state, created_at: state.created_at.getTime() };
}

/** Formats an agent for callers. */
const present = (agent: AgentDoc) => presentAs(Agent, agent);
