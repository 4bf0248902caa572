import type { ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { listNodes } from "../../../lib/broker/between-nodes.ts";
import { forbidden } from "../../../lib/contract/faults.ts";
import { defined } from "../../../lib/defined.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { MAX_TYPES, noneRecent, RECENT, RECENT_SECONDS, type Recent } from "../../platform/usage/tally.ts";
import type { Traffic } from "../../platform/usage/traffic.ts";
import { toStorage } from "../../platform/usage/usage.ts";
import { action, type CallOf, type ServiceFactory } from "../../runtime.ts";
import { getTraffic, getTrafficHistory } from "./live.contract.ts";

/** All viewers of a tenant share results; counts that are slow for the store are cached longer. */
const SHOWN_MS = 1000;
const DELIVERIES_MS = 5000;
const SHOWN_EVENTS = 12;
const NODE_TIMEOUT_MS = 1000;
const RETENTION_MS = 10 * 60_000;

interface Event {
  event_id: string;
  outcome: string;
  deliveries: object;
  accepted_at: string;
  payload: { type: string; source: string; subject?: string };
}

/** Data of the console's overview (api: People). */
export const liveService: ServiceFactory = ({ store, health, usage, traffic }) => {
  const shared = new Map<string, Promise<unknown>>();

  /** Returns a result of `make` for the caller's tenant that is at most `ms` old. */
  function share<T>({ meta }: Call, what: string, ms: number, make: () => Promise<T>): Promise<T> {
    const key = `${meta.caller.tenant_id} ${what}`;
    const known = shared.get(key) as Promise<T> | undefined;
    if (known) return known;
    const made = make();
    shared.set(key, made);
    const forget = () => shared.delete(key);
    made.then(() => setTimeout(forget, ms).unref(), forget);
    return made;
  }

  function loadDeliveries(ctx: Call): Promise<unknown> {
    return share(ctx, "deliveries", DELIVERIES_MS, async () => {
      const stats = await ctx.call<Record<string, unknown>, object>("deliveries.stats", { limit: 50 });
      const { agents: _, total: __, ...counts } = stats;
      return counts;
    });
  }

  async function loadRecent(ctx: Call) {
    const { events } = await ctx.call<{ events: Event[] }, object>("events.list", {
      limit: SHOWN_EVENTS,
      include_service: false,
    });
    return events.map(({ event_id, outcome, deliveries, accepted_at, payload }) => {
      const { type, source, subject = null } = payload;
      return { event_id, type, source, subject, outcome, deliveries, accepted_at };
    });
  }

  async function shownTo(ctx: Call, mayLook: boolean) {
    const { tenant_id } = ctx.meta.caller;
    const [{ changes, ...counts }, deliveries, storage, recent, report] = await Promise.all([
      recentOfNodes(ctx.broker, tenant_id),
      mayLook ? loadDeliveries(ctx) : null,
      mayLook ? usage.of(tenant_id).then(toStorage) : null,
      mayLook ? loadRecent(ctx) : [],
      health.report(),
    ]);
    const at = new Date(store.now()).toISOString();
    const series = { seconds: RECENT_SECONDS, ...counts };
    return { at, series, changes, deliveries, storage, recent, health: report };
  }

  return {
    name: "live",
    mixins: Object.entries(traffic.removals).map(
      ([name, task]) => new SharedLoop(name, task, RETENTION_MS).mixin,
    ),
    actions: {
      stats: action(getTraffic, (ctx) => {
        const mayLook = isAdmin(ctx.meta.caller);
        return share(ctx, mayLook ? "all" : "counts", SHOWN_MS, () => shownTo(ctx, mayLook));
      }),
      history: action(getTrafficHistory, (ctx) => historyFor(traffic, ctx)),
    },
  };
};

/** Sums the recent counts of all nodes, each asked once. */
async function recentOfNodes(broker: ServiceBroker, tenant_id: string): Promise<Recent> {
  const nodes = new Map<string, string>();
  for (const name of ["events.tally", "deliveries.tally"])
    for (const nodeID of listNodes(broker, name)) nodes.set(nodeID, name);
  const options = (nodeID: string) => ({ nodeID, timeout: NODE_TIMEOUT_MS });
  const all = await Promise.all(
    // Skip a node that is shutting down.
    [...nodes].map(([nodeID, name]) =>
      broker.call<Recent, object>(name, { tenant_id }, options(nodeID)).catch(noneRecent),
    ),
  );
  const sum = noneRecent();
  for (const recent of all) {
    sum.changes += recent.changes;
    for (const what of RECENT)
      for (const [i, count] of recent[what].entries()) (sum[what][i] as number) += count;
  }
  return sum;
}

/** Answers `GET /stats/history`. */
async function historyFor(traffic: Traffic, ctx: CallOf<typeof getTrafficHistory>) {
  const { range = "1h", agent_id, type } = ctx.params;
  const { caller } = ctx.meta;
  // Answers 404 unless the caller may read the agent.
  if (agent_id) await ctx.call("agents.get", { agent_id });
  const mayReadTypes = isAdmin(caller) || agent_id !== undefined;
  if (type !== undefined && !mayReadTypes)
    throw forbidden("Only admins can read the traffic of a type. Add `agent_id`, or ask one of them.");
  const { tenant_id } = caller;
  const [{ span, series, totals }, types] = await Promise.all([
    traffic.read(tenant_id, range, defined({ agent_id, type })),
    mayReadTypes ? traffic.types(tenant_id, range, agent_id ?? null, MAX_TYPES) : [],
  ]);
  const { latency_ms, timed, ...counts } = series;
  const { latency_ms: ms, timed: times, ...sums } = totals;
  return {
    range,
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
    step_seconds: span.step / 1000,
    series: { ...counts, latency_seconds: latency_ms.map((sum, i) => meanOf(sum, timed[i])) },
    totals: { ...sums, latency_seconds: meanOf(ms, times) },
    types,
  };
}

/** Returns the mean in seconds; null of none, and where nothing was recorded. */
const meanOf = (ms: number | null, times: number | null | undefined): number | null =>
  times ? (ms as number) / times / 1000 : null;
