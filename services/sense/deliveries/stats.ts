import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { type DeliveryDoc, type DeliveryState, PENDING } from "./deliveries.model.ts";

interface Counts {
  pending: number;
  in_flight: number;
  waiting: number;
  dead: number;
}

interface Row extends Counts {
  oldest_age_seconds: number | null;
}

interface Page {
  limit?: number;
  offset?: number;
}

/** Counts above this limit are cached for this multiple of the time they took. */
const MANY = 50_000;
const REST_FACTOR = 20;

export function newStats(deliveries: TenantCollection<DeliveryDoc>, store: Store) {
  async function stats(ctx: Call<Page>) {
    const { caller } = ctx.meta;
    if (isAdmin(caller)) return ofTenant(ctx);
    if (caller.kind === "agent") return rowOf(caller.tenant_id, caller.agent_id);
    throw new Fault("forbidden", "Statistics are seen by the agent they are about, and by admins.");
  }

  async function ofTenant(ctx: Call<Page>) {
    const { tenant_id } = ctx.meta.caller;
    const { limit = 50, offset = 0 } = ctx.params;
    const page = { limit, offset };
    const [all, { agents, total }] = await Promise.all([
      count(tenant_id, {}),
      ctx.call("agents.list", page) as Promise<{ agents: { id: string }[]; total: number }>,
    ]);
    const rows: (Row & { agent_id: string })[] = [];
    // Sequentially: a page of concurrent queries would delay all others.
    for (const { id } of agents) rows.push({ agent_id: id, ...(await rowOf(tenant_id, id)) });
    const ages = rows.flatMap(({ oldest_age_seconds }) => oldest_age_seconds ?? []);
    return { ...all, oldest_age_seconds: ages.length ? Math.max(...ages) : null, agents: rows, total };
  }

  async function rowOf(tenant_id: string, agent_id: string): Promise<Row> {
    const [counts, ...heads] = await Promise.all([
      count(tenant_id, { agent_id }),
      ...PENDING.map((state) => oldest(tenant_id, agent_id, state)),
    ]);
    const times = heads.filter((time) => time !== null);
    const age = times.length ? (store.now() - Math.min(...times)) / 1000 : null;
    return { ...counts, oldest_age_seconds: age };
  }

  const kept = new Map<string, Counts>();

  /** Counts deliveries; caches large counts, because counting them blocks the store for long. */
  async function count(tenant_id: string, of: { agent_id?: string }): Promise<Counts> {
    const key = of.agent_id ?? tenant_id;
    const known = kept.get(key);
    if (known) return known;
    const began = performance.now();
    const counts = await countNow(tenant_id, of);
    if (counts.pending + counts.dead > MANY) {
      kept.set(key, counts);
      setTimeout(() => kept.delete(key), (performance.now() - began) * REST_FACTOR).unref();
    }
    return counts;
  }

  async function countNow(tenant_id: string, of: { agent_id?: string }): Promise<Counts> {
    const states: DeliveryState[] = ["ready", "leased", "waiting", "dead"];
    const found = states.map((state) => deliveries.count(tenant_id, { state, ...of }));
    const [ready, in_flight, waiting, dead] = (await Promise.all(found)) as [number, number, number, number];
    return { pending: ready + in_flight + waiting, in_flight, waiting, dead };
  }

  /** Finds the creation time of the oldest: the first of each priority, each one lookup in the index of polls. */
  async function oldest(tenant_id: string, agent_id: string, state: DeliveryState): Promise<number | null> {
    let time: number | null = null;
    let below = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const head = await deliveries.findOne(
        tenant_id,
        { state, agent_id, priority: { $lt: below } },
        { sort: { priority: -1, created_at: 1 }, projection: { priority: 1, created_at: 1 } },
      );
      if (!head) return time;
      time = Math.min(time ?? Number.POSITIVE_INFINITY, head.created_at.getTime());
      below = head.priority;
    }
  }

  return stats;
}
