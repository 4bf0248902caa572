import { Cluster } from "./lib/cluster.ts";
import { type Cost, costOf, measure } from "./lib/costs.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { pace, saturate } from "./lib/trips.ts";

const WORKERS = [1, 2, 4, 6];
const AGENTS = 8;
/** Few enough that hardly two events share a round trip: the cost of each shows, whatever the machine. */
const PER_SECOND = 50;
const SECONDS = 10;
const IDLE_MS = 8_000;

/** The cost of an event with one to six workers, which all run all services. */
export const costPart: Part = {
  name: "cost",
  title: "Cost of an event by workers",
  note: `One gateway, ${PER_SECOND} events/s to ${AGENTS} polling agents, without what the nodes do at rest. At this rate hardly two events
share a round trip, so the counts are upper bounds that hardly depend on the machine. While the node that accepted an event
also wrote its deliveries, it cost 5.34 / 6.82 / 7.51 / 8.25 round trips and 5.88 / 6.36 / 8.09 / 9.80 messages
(2026-11-23); now the nodes that own the receivers' queues write them.`,
  async run() {
    const cluster = await Cluster.start({ counted: true });
    try {
      const costs: Cost[] = [];
      for (const workers of WORKERS) {
        await cluster.scale(workers);
        const cost = await steadyCost(cluster);
        costs.push(cost);
        progress(`  ${workers} workers: ${cost.trips.toFixed(2)} round trips (${cost.commands})`);
      }
      return rowsOf(costs);
    } finally {
      await cluster.stop();
    }
  },
};

async function steadyCost(cluster: Cluster): Promise<Cost> {
  const traffic = await cluster.traffic(AGENTS);
  await saturate(traffic, AGENTS, { lanes: 8, seconds: 2 });
  const resting = await measure(cluster, () => new Promise((next) => setTimeout(next, IDLE_MS)));
  await cluster.forget();
  const before = traffic.accepted;
  const end = performance.now() + SECONDS * 1000;
  const until = () => performance.now() > end;
  const spent = await measure(cluster, () => pace(traffic, AGENTS, { perSecond: PER_SECOND, until }));
  await traffic.stop();
  return costOf(spent, resting, traffic.accepted - before);
}

function rowsOf(costs: Cost[]): Row[] {
  const counts = WORKERS.join(" / ");
  const each = (pick: (cost: Cost) => number) => costs.map((cost) => pick(cost).toFixed(2)).join(" / ");
  const most = costs.at(-1) as Cost;
  return [
    {
      what: `round trips to the record an event: ${counts} workers`,
      figure: each(({ trips }) => trips),
      target: "≤ 7",
      met: most.trips <= 7,
    },
    { what: `NATS messages an event: ${counts} workers`, figure: each(({ messages }) => messages) },
    { what: `NATS bytes an event: ${counts} workers`, figure: each(({ bytes }) => bytes) },
    ...WORKERS.map((workers, i) => ({
      what: `commands an event: ${workers} ${workers === 1 ? "worker" : "workers"}`,
      figure: (costs[i] as Cost).commands,
    })),
  ];
}
