import type { ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import { nodesOf } from "../../../mixins/every-node.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { emptyTally, TALLIED, TALLY_SECONDS, type Tally } from "../../../storage/traffic/live-tally.ts";
import { toStorage } from "../../../storage/usage/usage.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { historyFor } from "./history.ts";
import { readHistory, readStats } from "./live.contract.ts";

/** All viewers of a tenant share results; counts that are slow for the store are cached longer. */
const SHOWN_MS = 1000;
const DELIVERIES_MS = 5000;
const RECENT = 12;
const TALLY_TIMEOUT_MS = 1000;
const RETENTION_MS = 10 * 60_000;

interface Event {
  event_id: string;
  state: string;
  matched_count: number | null;
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

  function deliveriesOf(ctx: Call): Promise<unknown> {
    return share(ctx, "deliveries", DELIVERIES_MS, async () => {
      const {
        agents: _,
        total: __,
        ...counts
      } = await ctx.call<Record<string, unknown>, object>("deliveries.stats", { limit: 50 });
      return counts;
    });
  }

  async function recentOf(ctx: Call) {
    const { events } = await ctx.call<{ events: Event[] }, object>("events.list", {
      limit: RECENT,
      include_service: false,
    });
    return events.map(({ event_id, state, matched_count, accepted_at, payload }) => {
      const { type, source, subject = null } = payload;
      return { event_id, type, source, subject, state, matched_count, accepted_at };
    });
  }

  async function shownTo(ctx: Call, mayLook: boolean) {
    const { tenant_id } = ctx.meta.caller;
    const [tally, deliveries, storage, recent, report] = await Promise.all([
      tallyOfNodes(ctx.broker, tenant_id),
      mayLook ? deliveriesOf(ctx) : null,
      mayLook ? usage.of(tenant_id).then(toStorage) : null,
      mayLook ? recentOf(ctx) : [],
      health.report(),
    ]);
    const at = new Date(store.now()).toISOString();
    const { changes, ...counts } = tally;
    const series = { seconds: TALLY_SECONDS, ...counts };
    return { at, series, changes, deliveries, storage, recent, health: report };
  }

  return {
    name: "live",
    mixins: [
      new SharedLoop(
        "retention",
        () => traffic.removeOld(),
        RETENTION_MS,
        "live: old counts of traffic could not be removed; the next sweep retries",
      ).mixin,
    ],
    actions: {
      stats: action(readStats, (ctx) => {
        const mayLook = isAdmin(ctx.meta.caller);
        return share(ctx, mayLook ? "all" : "counts", SHOWN_MS, () => shownTo(ctx, mayLook));
      }),
      history: action(readHistory, (ctx) => historyFor(traffic, ctx)),
    },
  };
};

/** Sums the tallies of all nodes, each asked once. */
async function tallyOfNodes(broker: ServiceBroker, tenant_id: string): Promise<Tally> {
  const nodes = new Map<string, string>();
  for (const name of ["events.tally", "deliveries.tally"])
    for (const nodeID of nodesOf(broker, name)) nodes.set(nodeID, name);
  const options = (nodeID: string) => ({ nodeID, timeout: TALLY_TIMEOUT_MS });
  const tallies = await Promise.all(
    // Skip a node that is shutting down.
    [...nodes].map(([nodeID, name]) =>
      broker.call<Tally, object>(name, { tenant_id }, options(nodeID)).catch(() => null),
    ),
  );
  const sum = emptyTally();
  for (const tally of tallies) {
    if (!tally) continue;
    sum.changes += tally.changes;
    for (const what of TALLIED)
      for (const [i, count] of tally[what].entries()) (sum[what][i] as number) += count;
  }
  return sum;
}
