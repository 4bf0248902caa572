import type { Config } from "../../../../config.ts";
import { DAY_MS } from "../../../../lib/time.ts";
import {
  type AgentState,
  type DeliveryHealth,
  HEALTH_STATES,
  type HealthState,
} from "../../../identity/agents/agents.contract.ts";
import type { Traffic } from "../../../platform/usage/traffic.ts";
import type { Lacking } from "../../interests/explain.ts";
import { agentsWith } from "../backlog.ts";
import { type DeliveryDeps, type DeliveryState, PENDING } from "../deliveries.model.ts";
import type { Statistics } from "../stats.ts";
import type { ProgressDoc } from "./progress.model.ts";
import { failureOf, type Progress, usualAbsence } from "./progress.ts";

/** An endpoint that cannot be reached, as `push.unreachable` returns it. */
export interface Unreachable {
  agent_id: string;
  endpoint: string;
  since: string;
  /** The last try. */
  failed_at: string;
  error: string;
}

interface HealthDeps extends DeliveryDeps {
  statistics: Statistics;
  progress: Progress;
  traffic: Traffic;
  config: Pick<Config, "STUCK_AFTER_SECONDS">;
}

/** Facts of several agents, each by one query. */
interface Shared {
  progress: Map<string, ProgressDoc>;
  unreachable: Map<string, Unreachable>;
  /** When keys were last used. */
  used: Record<string, number>;
  lacking: Record<string, Lacking>;
}

/** Limit of agents with deliveries in one state that are examined: each costs a few index seeks. */
const MOST_EXAMINED = 1000;
const AT_ONCE = 8;
const RATE_HOURS = 24;
/** How long the list of agents that need attention is shared by those who look. */
const SHOWN_MS = 2000;

/** How the deliveries of agents go: for the people who look after them. */
export class AgentHealth {
  readonly #deps: HealthDeps;
  readonly #shown = new Map<string, Promise<string[]>>();

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  async of(tenant_id: string, agents: AgentState[]): Promise<Record<string, DeliveryHealth>> {
    const ids = agents.map(({ id }) => id);
    const [shared, totals] = await Promise.all([
      this.#shared(tenant_id, agents),
      this.#deps.traffic.totals(tenant_id, ids, RATE_HOURS),
    ]);
    const byAgent: Record<string, DeliveryHealth> = {};
    // Sequentially: a page of concurrent queries would delay all others.
    for (const agent of agents) {
      const success_rate = rateOf(totals.get(agent.id));
      byAgent[agent.id] = { ...(await this.#ofOne(agent, shared)), success_rate };
    }
    return byAgent;
  }

  /** Returns the ids of the agents that need attention, the worst first. */
  needing(tenant_id: string): Promise<string[]> {
    const shown = this.#shown.get(tenant_id);
    if (shown) return shown;
    const list = this.#findNeeding(tenant_id);
    this.#shown.set(tenant_id, list);
    const forget = () => this.#shown.delete(tenant_id);
    list.then(() => setTimeout(forget, SHOWN_MS).unref(), forget);
    return list;
  }

  async #ofOne(agent: AgentState, shared: Shared): Promise<Omit<DeliveryHealth, "success_rate">> {
    const counts = await this.#deps.statistics.ofAgent(agent.tenant_id, agent.id);
    const now = this.#deps.store.now();
    const age = counts.oldest_age_seconds;
    const oldest_at = age === null ? null : now - age * 1000;
    const dead_at = counts.dead ? await this.#lastDeath(agent) : null;
    const facts = factsOf(agent, shared, { oldest_at, dead_at, late_ms: this.#lateMs(agent, shared) });
    const { acknowledged_at, seen_at, unreachable } = facts;
    return {
      ...stateOf(facts, now),
      late_after_seconds: Math.round(facts.late_ms / 1000),
      ...counts,
      last_acknowledged_at: toText(acknowledged_at),
      last_seen_at: toText(seen_at),
      last_error: lastErrorOf(shared.progress.get(agent.id), unreachable && shared.unreachable.get(agent.id)),
    };
  }

  async #findNeeding(tenant_id: string): Promise<string[]> {
    const { broker, store, deliveries } = this.#deps;
    const agentsOf = (state: DeliveryState) =>
      Array.fromAsync(agentsWith(deliveries, tenant_id, state, "", MOST_EXAMINED));
    const [pending, dead, unreachable, stopped, lacking] = await Promise.all([
      Promise.all(PENDING.map(agentsOf)),
      agentsOf("dead"),
      broker.call<Unreachable[], unknown>("push.unreachable", { tenant_id }),
      broker.call<string[], unknown>("agents.push_stopped", { tenant_id }),
      this.#lacking(tenant_id),
    ]);
    const [waits, died] = [new Set(pending.flat()), new Set(dead)];
    const down = unreachable.map(({ agent_id }) => agent_id);
    const agent_ids = [...new Set([...waits, ...died, ...down, ...stopped, ...Object.keys(lacking)])];
    const agents = await broker.call<AgentState[], unknown>("agents.get_many", { tenant_id, agent_ids });
    const shared = await this.#shared(tenant_id, agents);
    const needing: { id: string; severity: number; oldest_at: number }[] = [];
    const examine = async (agent: AgentState) => {
      const oldest_at = waits.has(agent.id)
        ? await this.#deps.statistics.oldestOf(tenant_id, agent.id)
        : null;
      const dead_at = died.has(agent.id) ? await this.#lastDeath(agent) : null;
      const queue = { oldest_at, dead_at, late_ms: this.#lateMs(agent, shared) };
      const { state } = stateOf(factsOf(agent, shared, queue), store.now());
      if (!needsAttention(state)) return;
      needing.push({
        id: agent.id,
        severity: severityOf(state),
        oldest_at: oldest_at ?? Number.MAX_SAFE_INTEGER,
      });
    };
    for (let from = 0; from < agents.length; from += AT_ONCE)
      await Promise.all(agents.slice(from, from + AT_ONCE).map(examine));
    return needing
      .sort((a, b) => b.severity - a.severity || a.oldest_at - b.oldest_at || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
  }

  async #shared(tenant_id: string, agents: AgentState[]): Promise<Shared> {
    const { broker, progress } = this.#deps;
    const agent_ids = agents.map(({ id }) => id);
    const [rows, unreachable, used, lacking] = await Promise.all([
      progress.of(tenant_id, agent_ids),
      broker.call<Unreachable[], unknown>("push.unreachable", { tenant_id, agent_ids }),
      broker.call<Record<string, number>, unknown>("keys.last_used", { tenant_id, agent_ids }),
      this.#lacking(tenant_id, agents),
    ]);
    const down = new Map(unreachable.map((each) => [each.agent_id, each]));
    return { progress: rows, unreachable: down, used, lacking };
  }

  /** Returns why active agents, by default all, are likely to receive nothing. New ones have some time first. */
  async #lacking(tenant_id: string, agents?: AgentState[]): Promise<Record<string, Lacking>> {
    const { broker, store, config } = this.#deps;
    const before = store.now() - config.STUCK_AFTER_SECONDS * 1000;
    const limit = MOST_EXAMINED;
    const all =
      agents ?? (await broker.call<AgentState[], unknown>("agents.receivers", { tenant_id, limit }));
    const old = all.filter(({ status, created_at = 0 }) => status === "active" && created_at <= before);
    const agent_ids = old.map(({ id }) => id);
    return old.length ? broker.call("interests.lacking", { tenant_id, agent_ids, before }) : {};
  }

  /** A delivery may be pending for as long as its lease, and while its agent is not expected to ask for it. */
  #lateMs({ id, delivery_mode, visibility_timeout_seconds }: AgentState, { progress }: Shared): number {
    const { config, store } = this.#deps;
    const least = Math.max(config.STUCK_AFTER_SECONDS, visibility_timeout_seconds ?? 0) * 1000;
    if (delivery_mode === "push") return least;
    return Math.max(least, 2 * usualAbsence(progress.get(id)?.absences ?? [], store.now()));
  }

  async #lastDeath({ tenant_id, id }: AgentState): Promise<number | null> {
    const filter = { dlq_agent_key: { $gt: `${id} `, $lt: `${id} ~` } };
    const options = { sort: { dlq_agent_key: -1 }, projection: { dead_lettered_at: 1 } } as const;
    const row = await this.#deps.deliveries.findOne(tenant_id, filter, options);
    return row?.dead_lettered_at?.getTime() ?? null;
  }
}

function factsOf(
  agent: AgentState,
  { progress, unreachable, used, lacking }: Shared,
  queue: Pick<HealthFacts, "oldest_at" | "dead_at" | "late_ms">,
): HealthFacts {
  const isPush = agent.delivery_mode === "push";
  const breaker = unreachable.get(agent.id);
  // A breaker of an earlier endpoint does not count.
  const isDown = isPush && breaker?.endpoint === agent.delivery_endpoint;
  const acknowledged_at = progress.get(agent.id)?.acknowledged_at?.getTime() ?? null;
  const seen = [used[agent.id], isPush ? acknowledged_at : null].filter((at) => typeof at === "number");
  return {
    ...queue,
    active: agent.status === "active",
    push_stopped: isPush && agent.push_stopped,
    unreachable: isDown ? { since: Date.parse(breaker.since), error: breaker.error } : null,
    acknowledged_at,
    seen_at: seen.length ? Math.max(...seen) : null,
    lacking: lacking[agent.id] ?? null,
  };
}

/** Returns the later of an agent's last failed attempt and the last failure to reach its endpoint. */
function lastErrorOf(progress: ProgressDoc | undefined, breaker: Unreachable | null | undefined) {
  const failed = progress ? failureOf(progress) : null;
  const unreached = breaker ? { at: breaker.failed_at, reason: breaker.error } : null;
  if (!failed || !unreached) return failed ?? unreached;
  return failed.at > unreached.at ? failed : unreached;
}

/** Of the attempts that ended. */
function rateOf(counts: { acknowledged: number; failed: number } | undefined): number | null {
  if (!counts) return null;
  const { acknowledged, failed } = counts;
  return acknowledged + failed > 0 ? acknowledged / (acknowledged + failed) : null;
}

const toText = (at: number | null) => (at === null ? null : new Date(at).toISOString());

/** Facts that decide an agent's state. Times in ms; null: never, or none. */
export interface HealthFacts {
  active: boolean;
  /** Age in ms from which a pending delivery is late. */
  late_ms: number;
  /** An active push endpoint: since when it cannot be reached, and the last error. */
  unreachable: { since: number; error: string } | null;
  /** Its endpoint answered 410 Gone. */
  push_stopped: boolean;
  oldest_at: number | null;
  acknowledged_at: number | null;
  dead_at: number | null;
  seen_at: number | null;
  /** Why it is likely to receive nothing; null if it is not. */
  lacking: Lacking | null;
}

export const UNSUBSCRIBED =
  "The agent has no interests, and is in no channel with feeds: no event reaches it. Add an interest.";

/** Returns the worst state that the facts show. An inactive agent is left alone: it is meant to receive nothing. */
export function stateOf(facts: HealthFacts, now: number): Pick<DeliveryHealth, "state" | "reason"> {
  const { active, late_ms, unreachable, push_stopped, lacking } = facts;
  const { oldest_at, acknowledged_at, dead_at, seen_at } = facts;
  const ago = (at: number) => duration(now - at);
  if (!active) return { state: "ok", reason: null };
  if (push_stopped)
    return { state: "unreachable", reason: "The endpoint answered 410 Gone, so pushing stopped." };
  if (unreachable) {
    const reason = `The endpoint has not been reached for ${ago(unreachable.since)}: ${unreachable.error}`;
    return { state: "unreachable", reason };
  }
  const late = oldest_at !== null && now - oldest_at > late_ms;
  const acknowledges = acknowledged_at !== null && now - acknowledged_at <= late_ms;
  if (late && !acknowledges) {
    const since = acknowledged_at === null ? "since" : `for ${ago(acknowledged_at)}`;
    const reason = `The oldest pending delivery is ${ago(oldest_at)} old, and nothing was acknowledged ${since}.`;
    return { state: "stuck", reason };
  }
  if (dead_at !== null && now - dead_at <= DAY_MS)
    return { state: "failing", reason: `The last dead letter arrived ${ago(dead_at)} ago.` };
  if (late) return { state: "behind", reason: `The oldest pending delivery is ${ago(oldest_at)} old.` };
  if (lacking?.event_type === null) return { state: "unsubscribed", reason: UNSUBSCRIBED };
  if (lacking) {
    const reason = `The interest in ${lacking.event_type} has matched no event for ${ago(lacking.since ?? now)}.`;
    return { state: "unmatched", reason };
  }
  if (oldest_at === null && (seen_at === null || now - seen_at > DAY_MS))
    return { state: "quiet", reason: seen_at === null ? "Not seen yet." : `Not seen for ${ago(seen_at)}.` };
  return { state: "ok", reason: null };
}

/** Whether a person should look at it. */
export const needsAttention = (state: HealthState) => severityOf(state) >= severityOf("unmatched");

const severityOf = (state: HealthState) => HEALTH_STATES.indexOf(state);

const UNITS = [
  [DAY_MS, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

function duration(ms: number): string {
  const [size, name] = UNITS.find(([each]) => ms >= each) ?? [1000, "s"];
  return `${Math.floor(Math.max(ms, 0) / size)} ${name}`;
}
