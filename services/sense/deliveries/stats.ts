import { type Call, isAdmin, type OfAgent } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { forbidden } from "../../../lib/contract/faults.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { tally } from "../../platform/usage/tally.ts";
import type { Limit } from "./agent-limits.ts";
import { findOldest } from "./backlog.ts";
import type { getDeliveryStats } from "./deliveries.contract.ts";
import { type DeliveryDoc, type DeliveryState, PENDING } from "./deliveries.model.ts";

type Counts = Record<"pending" | "in_flight" | "waiting" | "dead", number>;

interface AgentStatistics extends Counts {
  oldest_age_seconds: number | null;
  limited_by: Limit | null;
}

/** Returns the limit for which an agent gets no more, now that so many are in flight. */
type LimitedBy = (tenant_id: string, agent_id: string, in_flight: number) => Promise<Limit | null>;

type Page = ParamsOf<typeof getDeliveryStats>;

/** Counts above this limit are cached for this multiple of the time they took. */
const MANY = 50_000;
const REST_FACTOR = 20;

export class Statistics {
  readonly #deliveries: TenantCollection<DeliveryDoc>;
  readonly #store: Store;
  readonly #limitedBy: LimitedBy;
  /** Large counts, by agent or tenant. */
  readonly #cached = new Map<string, Counts>();

  constructor(deliveries: TenantCollection<DeliveryDoc>, store: Store, limitedBy: LimitedBy) {
    this.#deliveries = deliveries;
    this.#limitedBy = limitedBy;
    this.#store = store;
  }

  /** Returns an agent's own, or the tenant's for an admin. */
  async read(ctx: Call<Page>) {
    const { caller } = ctx.meta;
    if (isAdmin(caller)) return this.#ofTenant(ctx);
    if (caller.kind === "agent") return this.ofAgent(caller.tenant_id, caller.agent_id);
    throw forbidden("Only the agent itself and admins can read its statistics. Ask one of them.");
  }

  async #ofTenant(ctx: Call<Page>) {
    const { tenant_id } = ctx.meta.caller;
    const { limit = 50, offset = 0 } = ctx.params;
    const page = { limit, offset };
    const [all, { agents, total }] = await Promise.all([
      this.#count(tenant_id, {}),
      ctx.call("agents.list", page) as Promise<{ agents: { id: string }[]; total: number }>,
    ]);
    const rows: (AgentStatistics & { agent_id: string })[] = [];
    // Sequentially: a page of concurrent queries would delay all others.
    for (const { id } of agents) rows.push({ agent_id: id, ...(await this.ofAgent(tenant_id, id)) });
    const ages = rows.flatMap(({ oldest_age_seconds }) => oldest_age_seconds ?? []);
    return { ...all, oldest_age_seconds: ages.length ? Math.max(...ages) : null, agents: rows, total };
  }

  async ofAgent(tenant_id: string, agent_id: string): Promise<AgentStatistics> {
    const [counts, oldest] = await Promise.all([
      this.#count(tenant_id, { agent_id }),
      this.oldestOf(tenant_id, agent_id),
    ]);
    const { pending, in_flight, waiting } = counts;
    const isReady = pending > in_flight + waiting;
    return {
      ...counts,
      oldest_age_seconds: oldest === null ? null : (this.#store.now() - oldest) / 1000,
      limited_by: isReady ? await this.#limitedBy(tenant_id, agent_id, in_flight) : null,
    };
  }

  /** Returns the creation time, in ms, of an agent's oldest pending delivery. */
  async oldestOf(tenant_id: string, agent_id: string): Promise<number | null> {
    const of = { tenant_id, agent_id };
    const heads = await Promise.all(PENDING.map((state) => findOldest(this.#deliveries, of, state)));
    const times = heads.filter((time) => time !== null);
    return times.length ? Math.min(...times) : null;
  }

  /** Counts an agent's again: many were changed at once. */
  forget(agent_id: string): void {
    this.#cached.delete(agent_id);
  }

  /** Counts deliveries; caches large counts, because counting them blocks the store for long. */
  async #count(tenant_id: string, of: { agent_id?: string }): Promise<Counts> {
    const key = of.agent_id ?? tenant_id;
    const cached = this.#cached.get(key);
    if (cached) return cached;
    const began = performance.now();
    const counts = await this.#countNow(tenant_id, of);
    if (counts.pending + counts.dead > MANY) {
      this.#cached.set(key, counts);
      setTimeout(() => this.#cached.delete(key), (performance.now() - began) * REST_FACTOR).unref();
    }
    return counts;
  }

  async #countNow(tenant_id: string, of: { agent_id?: string }): Promise<Counts> {
    const states: DeliveryState[] = ["ready", "leased", "waiting", "dead"];
    const counts = states.map((state) => this.#deliveries.count(tenant_id, { state, ...of }));
    const [ready, in_flight, waiting, dead] = (await Promise.all(counts)) as [number, number, number, number];
    return { pending: ready + in_flight + waiting, in_flight, waiting, dead };
  }
}

/** Deliveries that are remembered: some seconds at full load. */
const MOST_KNOWN = 40_000;

interface Known {
  type: string | undefined;
  active_key: string | undefined;
  created_at: number;
}

/**
 * Data for statistics of deliveries that this node delivered, so that acknowledging reads no row. Deliveries that it
 * does not know are counted without a type and a latency.
 */
export class AcknowledgementCounts {
  readonly #known = new LruMap<string, Known>(MOST_KNOWN);

  add(rows: DeliveryDoc[]): void {
    for (const { _id, type, active_key, created_at } of rows)
      this.#known.set(_id, { type, active_key, created_at: created_at.getTime() });
  }

  /** Returns the groups (`Ordering`) of deliveries, and the ids of those that it does not know. */
  groupsOf(ids: readonly string[]): { groups: string[]; unknown: string[] } {
    const groups = ids.flatMap((id) => this.#known.get(id)?.active_key ?? []);
    return { groups, unknown: ids.filter((id) => !this.#known.has(id)) };
  }

  /** Counts acknowledgements. @param count how many of the ids were pending until now */
  acknowledged(of: OfAgent, ids: string[], count: number, at: Date): void {
    const now = at.getTime();
    const all = ids.flatMap((id) => this.#known.get(id) ?? []);
    for (const id of ids) this.#known.delete(id);
    const known = all.slice(0, count);
    for (const { type, created_at } of known) {
      const own = { ...of, type };
      tally(own, "acknowledged", 1);
      tally(own, "latency_ms", Math.max(now - created_at, 0));
      tally(own, "timed", 1);
    }
    tally(of, "acknowledged", count - known.length);
  }
}
