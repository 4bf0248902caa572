import type { Config } from "../../../config.ts";
import { type Call, isAdmin, type OfAgent } from "../../../lib/access/caller.ts";
import { afterPlace, fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { forbidden, isFault, notFound, requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { account } from "../../../middlewares/audit.ts";
import type { Where } from "../../../storage/query.ts";
import type { AgentState, DeliveryHealth } from "../../identity/agents/agents.contract.ts";
import { requireAgent } from "../../identity/agents/find-agent.ts";
import type { CallOf } from "../../runtime.ts";
import type { Explanation, Query } from "../interests/explain.ts";
import * as contract from "./agent-deliveries.contract.ts";
import { headsOf } from "./backlog.ts";
import type { EventHeader } from "./dead-letter-find.ts";
import {
  BRIEF,
  type DeliveryDeps,
  type DeliveryDoc,
  type DeliveryState,
  deliveryId,
  PENDING,
  SETTLED,
  timelinePush,
} from "./deliveries.model.ts";
import { type AgentHealth, UNSUBSCRIBED } from "./health/health.ts";
import type { Statistics } from "./stats.ts";

interface AgentDeliveriesDeps extends DeliveryDeps {
  statistics: Statistics;
  health: AgentHealth;
  config: Pick<Config, "VISIBILITY_TIMEOUT_SECONDS" | "RETRY_BUDGET" | "RATE_LIMIT_PER_MINUTE">;
}

const BY = "created_at";
const NEWEST = { by: BY, sign: -1 } as const;
const SLICE = 500;

/** An agent's deliveries, for the people who look after it. */
export class AgentDeliveries {
  readonly #deps: AgentDeliveriesDeps;

  constructor(deps: AgentDeliveriesDeps) {
    this.#deps = deps;
  }

  async list(ctx: CallOf<typeof contract.listDeliveries>) {
    const { agent_id, status, limit = 50, cursor } = ctx.params;
    const { tenant_id } = await requireOwnAgent(ctx, agent_id, { itself: true });
    const after = cursor === undefined ? {} : afterPlace(fromCursor(cursor, BY), NEWEST);
    const of = { tenant_id, agent_id };
    const states = statesOf(status);
    const parts = await Promise.all(states.map((state) => this.#newest(of, state, after, limit + 1)));
    const { page, next_cursor } = pageOf({ rows: parts.flat().sort(newestFirst) }, limit, BY);
    const event_ids = page.flatMap(({ event_id }) => event_id ?? []);
    const headers = await ctx.call<EventHeader[], unknown>("events.headers", { tenant_id, event_ids });
    const events = new Map(headers.map((header) => [header._id, header]));
    return { deliveries: page.map((row) => present(row, events.get(row.event_id ?? ""))), next_cursor };
  }

  async log(ctx: CallOf<typeof contract.getDeliveryLog>) {
    const { agent_id, delivery_id: _id } = ctx.params;
    const { tenant_id } = await requireOwnAgent(ctx, agent_id, { itself: true });
    const options = { projection: { log: 1, log_at: 1 } };
    const row = await this.#deps.deliveries.findOne(tenant_id, { _id, agent_id }, options);
    const { log = null, log_at } = requireFound(row, "delivery", _id);
    return { log, logged_at: log_at?.toISOString() ?? null };
  }

  async explain(ctx: CallOf<typeof contract.explainReception>) {
    const { broker, deliveries, store, health, config } = this.#deps;
    const { agent_id } = ctx.params;
    const agent = await requireOwnAgent(ctx, agent_id, { itself: true });
    const { tenant_id } = agent;
    const event_id = ctx.params.event_id ?? (await this.#unsettledEvent({ tenant_id, agent_id }));
    const isTested = event_id !== undefined && !(await this.#maySee(ctx, agent_id, event_id));
    const query: Query = { tenant_id, agent_id, isTested, ...(event_id !== undefined && { event_id }) };
    const [explanation, states] = await Promise.all([
      broker.call<Explanation, unknown>("interests.explain", query),
      health.of(tenant_id, [agent]),
    ]);
    const { event, is_excluded, subscriptions, more } = explanation;
    // An agent must not learn of an event that is for others.
    if (is_excluded && !isAdmin(ctx.meta.caller)) throw notFound("event", event_id as string);
    const _id = event ? deliveryId(event.event_id, agent_id) : "";
    const row = event && (await deliveries.findOne(tenant_id, { _id }, { projection: BRIEF }));
    const delivery = row && present(row, event);
    const own = states[agent_id] as DeliveryHealth;
    return {
      reasons: reasonsOf(agent, explanation, delivery, own),
      event,
      delivery: delivery,
      subscriptions: subscriptions.map(({ suspended_ms: ms, ...each }) => ({
        ...each,
        suspended_until: ms > 0 ? new Date(store.now() + ms).toISOString() : null,
      })),
      more,
      health: own,
      limits: {
        visibility_timeout_seconds: agent.visibility_timeout_seconds ?? config.VISIBILITY_TIMEOUT_SECONDS,
        retry_budget: agent.retry_budget ?? config.RETRY_BUDGET,
        max_in_flight: agent.max_in_flight ?? null,
        max_per_minute: agent.max_per_minute ?? null,
        requests_per_minute: config.RATE_LIMIT_PER_MINUTE || null,
      },
    };
  }

  /** Returns the event of the agent's newest dead letter, else of its newest pending delivery. */
  async #unsettledEvent(of: OfAgent): Promise<string | undefined> {
    const own = { $gt: `${of.agent_id} `, $lt: `${of.agent_id} ~` };
    const options = { sort: { dlq_agent_key: -1 }, projection: { event_id: 1 } } as const;
    const dead = await this.#deps.deliveries.findOne(of.tenant_id, { dlq_agent_key: own }, options);
    if (dead?.event_id) return dead.event_id;
    const pending = await Promise.all(PENDING.map((state) => this.#newest(of, state, {}, 1)));
    return pending.flat().sort(newestFirst)[0]?.event_id ?? undefined;
  }

  /** Whether the caller may see an event: by itself, or because this agent, which it looks after, was given it. */
  async #maySee(ctx: Call, agent_id: string, event_id: string): Promise<boolean> {
    const { caller } = ctx.meta;
    if (isAdmin(caller)) return true;
    const { deliveries } = this.#deps;
    if (await deliveries.exists(caller.tenant_id, { _id: deliveryId(event_id, agent_id) })) return true;
    return ctx.call("events.get", { event_id }).then(
      () => true,
      (err) => {
        if (isFault(err) && err.type === "not_found") return false;
        throw err;
      },
    );
  }

  /** Discards the ready and waiting deliveries from before a time. Rows remain, so that no replay delivers them again. */
  async drain(ctx: CallOf<typeof contract.drainDeliveries>) {
    const { deliveries, store, statistics } = this.#deps;
    const { agent_id, before } = ctx.params;
    const { tenant_id } = await requireOwnAgent(ctx, agent_id, { itself: false });
    const at = new Date(store.now());
    const end = before === undefined ? at : new Date(before);
    const update = {
      $set: { state: "discarded" as const },
      $unset: SETTLED,
      $push: timelinePush({ at, what: "discarded" as const, reason: "drained" }),
    };
    let discarded = 0;
    let more = false;
    for (const state of ["ready", "waiting"] as const) {
      const filter = { state, agent_id, created_at: { $lt: end } };
      for (let count = SLICE; count === SLICE && discarded < contract.MOST_DRAINED; ) {
        const ids = await deliveries.find(tenant_id, filter, { limit: SLICE, projection: { _id: 1 } });
        count = ids.length;
        const guard = { _id: { $in: ids.map(({ _id }) => _id) }, state };
        if (count) discarded += await deliveries.updateMany(tenant_id, guard, update);
      }
      more ||= discarded >= contract.MOST_DRAINED && (await deliveries.exists(tenant_id, filter));
    }
    statistics.forget(agent_id);
    account(ctx, { discarded });
    const in_flight = await deliveries.count(tenant_id, { state: "leased", agent_id });
    return { discarded, in_flight, before: end.toISOString(), more };
  }

  /** Returns an agent's newest deliveries in a state, by one query for each priority in use. */
  async #newest(of: OfAgent, state: DeliveryState, after: object, limit: number) {
    const { tenant_id, agent_id } = of;
    const rows: DeliveryDoc[] = [];
    for await (const { priority } of headsOf(this.#deps.deliveries, of, state))
      rows.push(...(await this.#newestOf(tenant_id, { state, agent_id, priority, ...after }, limit)));
    return rows;
  }

  /** Finds the end of the page first, by the index, which has no ids: else all rows would be sorted for every page. */
  async #newestOf(tenant_id: string, filter: Where<DeliveryDoc>, limit: number): Promise<DeliveryDoc[]> {
    const { deliveries } = this.#deps;
    const ends = { sort: { [BY]: -1 }, limit, projection: { [BY]: 1 } } as const;
    const last = (await deliveries.find(tenant_id, filter, ends)).at(-1);
    if (!last) return [];
    const page = { $and: [filter, { [BY]: { $gte: last[BY] } }] };
    const options = { sort: { [BY]: -1, _id: -1 }, limit, projection: BRIEF } as const;
    return deliveries.find(tenant_id, page, options);
  }
}

/** @throws Fault not_found, forbidden unless the caller owns the agent, is an admin or, if allowed, is the agent itself */
export async function requireOwnAgent(ctx: Call, agent_id: string, { itself }: { itself: boolean }) {
  const { caller } = ctx.meta;
  const agent = await requireAgent(ctx, agent_id);
  const own =
    caller.kind === "agent" ? itself && caller.agent_id === agent_id : caller.user_id === agent.owner_user_id;
  if (own || isAdmin(caller)) return agent;
  throw forbidden("Only the agent's owner and admins can do this. Ask one of them.");
}

function newestFirst(a: DeliveryDoc, b: DeliveryDoc): number {
  return b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? 1 : -1);
}

function statesOf(status: CallOf<typeof contract.listDeliveries>["params"]["status"]): DeliveryState[] {
  if (status === undefined) return [...PENDING, "acknowledged", "dead", "discarded"];
  if (status === "pending") return PENDING;
  return [status === "in_flight" ? "leased" : status];
}

const FAILURES: Record<string, string> = {
  nacked: "returned by the agent",
  lease_expired: "lease expired",
  dead: "retry budget spent",
};

function present(row: DeliveryDoc, event: Pick<EventHeader, "type" | "source" | "subject"> | undefined) {
  const { state, event_id, due_at } = row;
  const status: contract.DeliveryStatus = state === "leased" ? "in_flight" : state;
  // Tombstones have none.
  const timeline = (row as Partial<DeliveryDoc>).timeline ?? [];
  const failed = timeline.findLast(({ what }) => what in FAILURES);
  return presentAs(contract.AgentDelivery, row, {
    status,
    event:
      event && event_id ? { event_id, type: event.type, source: event.source, subject: event.subject } : null,
    next_attempt_at: (state === "leased" || state === "waiting") && due_at ? due_at.toISOString() : null,
    last_error: failed
      ? { at: failed.at.toISOString(), reason: failed.reason ?? (FAILURES[failed.what] as string) }
      : null,
    timeline: timeline.map(({ at, ...rest }) => ({ at: at.toISOString(), ...rest })),
  });
}

interface Reason {
  reason: (typeof contract.REASONS)[number];
  text: string;
}

const because = (reason: Reason["reason"], text: string): Reason => ({ reason, text });

/** Returns why an agent receives an event, or nothing: what applies, the most important first. */
function reasonsOf(
  agent: AgentState,
  explanation: Explanation,
  delivery: ReturnType<typeof present> | null,
  { state, reason, limited_by }: DeliveryHealth,
): Reason[] {
  const { subscriptions, event } = explanation;
  const reasons: Reason[] = [];
  if (agent.status === "inactive")
    reasons.push(because("inactive", "The agent is inactive: no new event matches it. Activate it."));
  if (subscriptions.length === 0) reasons.push(because("unsubscribed", UNSUBSCRIBED));
  if (!event) reasons.push(because("no_event", "The organisation has no event yet: nothing was published."));
  else if (delivery) reasons.push(ofDelivery(delivery, agent, limited_by));
  else if (subscriptions.length > 0) reasons.push(...withoutDelivery(explanation));
  for (const { id, kind, reason: verdict } of subscriptions) {
    const text = `The ${kind} ${id} is suspended: its filter or glob takes too long. Simplify it.`;
    if (verdict === "suspended") reasons.push(because("suspended", text));
  }
  if (reason && state !== "ok" && state !== "unsubscribed") reasons.push(because("health", reason));
  return reasons;
}

function ofDelivery(
  { status, attempt_count: attempts, next_attempt_at, last_error }: ReturnType<typeof present>,
  { delivery_mode, max_in_flight, max_per_minute }: AgentState,
  limited_by: DeliveryHealth["limited_by"],
): Reason {
  const error = last_error ? ` Last error: ${last_error.reason}.` : "";
  const after = `after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
  switch (status) {
    case "ready": {
      const limits = {
        max_in_flight: `the agent has its limit of deliveries in flight (\`max_in_flight\`: ${max_in_flight})`,
        max_per_minute: `the agent reached its limit of the last minute (\`max_per_minute\`: ${max_per_minute})`,
      };
      const waits = "The delivery is ready, and waits";
      if (limited_by !== null) return because("limited", `${waits}: ${limits[limited_by]}.`);
      const how = { poll: "poll", sse: "open stream", push: "push" }[delivery_mode];
      return because("pending", `${waits} for the agent's next ${how}.`);
    }
    case "in_flight":
      return because(status, `The delivery is leased until ${next_attempt_at}, and not acknowledged yet.`);
    case "waiting":
      return next_attempt_at === null
        ? because("held", "The delivery is held until an earlier one of its key is settled.")
        : because(status, `The delivery will be retried at ${next_attempt_at}, ${after}.${error}`);
    case "acknowledged":
      return because(status, `The delivery was acknowledged ${after}.`);
    case "dead":
      return because(
        status,
        `The delivery is a dead letter ${after}.${error} Fix the cause, then replay it.`,
      );
    case "discarded":
      return because(status, "The delivery was discarded: it is not delivered again.");
  }
}

const UNFINISHED: Record<string, string> = {
  accepted: "is not matched yet. Ask again",
  waiting: "waits for its `notbefore`",
  parked: "is parked, because its matching failed. Retry it",
};

function withoutDelivery({ event_state, is_excluded, subscriptions }: Explanation): Reason[] {
  if (event_state !== "matched") {
    const why = UNFINISHED[event_state ?? ""] ?? "is not kept any more";
    return [because("not_matched_yet", `The event ${why}.`)];
  }
  if (is_excluded) return [because("excluded", "The agent is not in the event's audience.")];
  const matches = "matches, but was created or changed after the event was published.";
  const later = subscriptions.filter(({ reason }) => reason === "later");
  if (later.length > 0) return later.map(({ id, kind }) => because("later", `The ${kind} ${id} ${matches}`));
  const missing = "the agent was inactive then, or the delivery is not kept any more.";
  if (subscriptions.some(({ reason }) => reason === "match"))
    return [because("not_delivered", `A subscription matches, but there is no delivery: ${missing}`)];
  if (subscriptions.every(({ reason }) => reason === "suspended")) return [];
  return [because("no_match", "No interest of the agent and no feed of its channels matches the event.")];
}
