import type { ServiceBroker } from "moleculer";
import { type Call, isAdmin } from "../../lib/caller.ts";
import { nodesOf } from "../../mixins/every-node.ts";
import { emptyTally, TALLIED, TALLY_SECONDS, type Tally } from "../../observability/tally.ts";
import { toStorage } from "../../storage/usage/usage.ts";
import { action, type ServiceFactory } from "../runtime.ts";
import { readStats } from "./live.contract.ts";

/** Counting deliveries is work for the store: all who watch a tenant share it. */
const DELIVERIES_MS = 5000;
const RECENT = 12;
const TALLY_TIMEOUT_MS = 1000;

interface Event {
  event_id: string;
  state: string;
  matched_count: number | null;
  accepted_at: string;
  payload: { type: string; source: string; subject?: string };
}

/** What the console's overview shows (api: People). */
export const liveService: ServiceFactory = ({ store, health, usage }) => {
  const kept = new Map<string, Promise<unknown>>();

  /** The tenant's deliveries by state, a few seconds old at most. */
  function deliveriesOf(ctx: Call): Promise<unknown> {
    const { tenant_id } = ctx.meta.caller;
    const known = kept.get(tenant_id);
    if (known) return known;
    const asked = ctx.call("deliveries.stats", { limit: 50 }).then((answer) => {
      const { agents: _, total: __, ...counts } = answer as Record<string, unknown>;
      return counts;
    });
    kept.set(tenant_id, asked);
    const forget = () => kept.delete(tenant_id);
    asked.then(() => setTimeout(forget, DELIVERIES_MS).unref(), forget);
    return asked;
  }

  async function recentOf(ctx: Call) {
    const { events } = await ctx.call<{ events: Event[] }, object>("events.list", { limit: RECENT });
    return events.map(({ event_id, state, matched_count, accepted_at, payload }) => {
      const { type, source, subject = null } = payload;
      return { event_id, type, source, subject, state, matched_count, accepted_at };
    });
  }

  return {
    name: "live",
    actions: {
      stats: action(readStats, async (ctx) => {
        const { caller } = ctx.meta;
        const mayLook = isAdmin(caller);
        const [tally, deliveries, storage, recent, report] = await Promise.all([
          tallyOfNodes(ctx.broker, caller.tenant_id),
          mayLook ? deliveriesOf(ctx) : null,
          mayLook ? usage.of(caller.tenant_id).then(toStorage) : null,
          mayLook ? recentOf(ctx) : [],
          health.report(),
        ]);
        const at = new Date(store.now()).toISOString();
        const series = { seconds: TALLY_SECONDS, ...tally };
        return { at, series, deliveries, storage, recent, health: report };
      }),
    },
  };
};

/** What all nodes counted, each asked once. */
async function tallyOfNodes(broker: ServiceBroker, tenant_id: string): Promise<Tally> {
  const nodes = new Map<string, string>();
  for (const name of ["events.tally", "deliveries.tally"])
    for (const nodeID of nodesOf(broker, name)) nodes.set(nodeID, name);
  const options = (nodeID: string) => ({ nodeID, timeout: TALLY_TIMEOUT_MS });
  const tallies = await Promise.all(
    // A node that is just going counts for nothing.
    [...nodes].map(([nodeID, name]) =>
      broker.call<Tally, object>(name, { tenant_id }, options(nodeID)).catch(() => null),
    ),
  );
  const sum = emptyTally();
  for (const tally of tallies) {
    if (!tally) continue;
    for (const what of TALLIED)
      for (const [i, count] of tally[what].entries()) (sum[what][i] as number) += count;
  }
  return sum;
}
