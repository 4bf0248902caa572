import { Cluster } from "./lib/cluster.ts";
import { type Cost, costs } from "./lib/costs.ts";
import { type Failover, failover } from "./lib/failover.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { median, percentile } from "./lib/stats.ts";
import { pace, saturate, type Trips } from "./lib/trips.ts";

const WORKERS = [1, 2, 4, 6];
const ROUNDS = 3;
const KILLS = 20;
const AGENTS = 8;
const STEADY = 200;

/** One gateway, one to six workers and their shared servers: throughput by nodes, cost per event, a kill. */
export const clusterPart: Part = {
  name: "cluster",
  title: "Several nodes",
  note: `Processes on one machine, as \`npm run cluster\` starts them. On two cores more workers cannot be faster: gateway,
workers, NATS, the record and the generator share them, so the first rows show what a further node costs, not what it
brings. The record is mongo-java-server unless \`MONGO_URL\` says otherwise, a stand-in that keeps all in memory: its
times and its CPU say nothing about MongoDB. Valid elsewhere too are the counts (round trips, messages, bytes), the CPU
per event of the service's processes, and the times of failover, which depend on heartbeats.`,
  async run() {
    return [...(await throughput()), ...(await cost()), ...(await measureKills())];
  },
};

interface Measured {
  single: Trips;
  /** Cores that each process used meanwhile. */
  cores: Record<string, number>;
  batch: Trips;
  steady: Trips;
}

async function throughput(): Promise<Row[]> {
  const cluster = await Cluster.start({ counted: false });
  try {
    const measured = WORKERS.map((): Measured[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, workers] of WORKERS.entries()) {
        await cluster.scale(workers);
        const each = await measure(cluster);
        measured[i]?.push(each);
        progress(`  round ${round + 1}/${ROUNDS}, ${workers} workers: ${shown(each)}`);
      }
    }
    return throughputRows(measured);
  } finally {
    await cluster.stop();
  }
}

async function measure(cluster: Cluster): Promise<Measured> {
  const traffic = await cluster.traffic(AGENTS);
  await saturate(traffic, AGENTS, { lanes: 32, seconds: 1 });
  await cluster.forget();
  const start = { at: performance.now(), cpu: cluster.cpu() };
  const single = await saturate(traffic, AGENTS, { lanes: 32, seconds: 3 });
  const cores = coresSince(start, cluster.cpu());
  await cluster.forget();
  const batch = await saturate(traffic, AGENTS, { lanes: 4, seconds: 2, batch: 100 });
  await cluster.forget();
  const end = performance.now() + 3_000;
  const steady = await pace(traffic, AGENTS, { perSecond: STEADY, until: () => performance.now() > end });
  await traffic.stop();
  return { single, cores, batch, steady };
}

/** Sums the workers' cores. */
function coresSince(start: { at: number; cpu: Record<string, number> }, cpu: Record<string, number>) {
  const seconds = (performance.now() - start.at) / 1000;
  const cores: Record<string, number> = {};
  for (const [name, used] of Object.entries(cpu)) {
    const of = name.replace(/ \d+$/, "s");
    cores[of] = (cores[of] ?? 0) + (used - (start.cpu[name] ?? 0)) / seconds;
  }
  return cores;
}

const shown = ({ single, batch, steady }: Measured) =>
  `${single.perSecond.toFixed(0)} and ${batch.perSecond.toFixed(0)} events/s, at ${STEADY}/s p99 ${steady.p99.toFixed(0)} ms`;

function throughputRows(measured: Measured[][]): Row[] {
  const row = (what: string, pick: (each: Measured) => number, digits = 0): Row => {
    const values = measured.map((rounds) => median(rounds.map(pick)));
    const ratios = values.map((value) => (value / (values[0] as number)).toFixed(2));
    return {
      what,
      figure: `${values.map((value) => value.toFixed(digits)).join(" / ")} (${ratios.join(" : ")})`,
    };
  };
  return [
    row(
      `events/s from publish to ack, one a request, 32 at a time: ${WORKERS.join(" / ")} workers`,
      ({ single }) => single.perSecond,
    ),
    row("publish to ack at that load, p50, ms", ({ single }) => single.p50),
    row("publish to ack at that load, p99, ms", ({ single }) => single.p99),
    {
      what: "cores used meanwhile, one worker",
      figure: coresOf(measured[0] as Measured[]),
    },
    { what: "cores used meanwhile, six workers", figure: coresOf(measured.at(-1) as Measured[]) },
    row("events/s from publish to ack, 100 a request, 4 at a time", ({ batch }) => batch.perSecond),
    row(`publish to ack at ${STEADY} events/s, p50, ms`, ({ steady }) => steady.p50, 1),
    row(`publish to ack at ${STEADY} events/s, p99, ms`, ({ steady }) => steady.p99, 1),
  ];
}

function coresOf(rounds: Measured[]): string {
  const names = Object.keys(rounds[0]?.cores ?? {});
  const cores = names.map((name) => [name, median(rounds.map((each) => each.cores[name] ?? 0))] as const);
  return cores.map(([name, used]) => `${name} ${used.toFixed(2)}`).join(", ");
}

async function cost(): Promise<Row[]> {
  const cluster = await Cluster.start({ counted: true });
  try {
    return costRows(await costs(cluster));
  } finally {
    await cluster.stop();
  }
}

function costRows({ single, batch }: { single: Cost; batch: Cost }): Row[] {
  const both = (pick: (cost: Cost) => number, digits: number) =>
    [single, batch].map((each) => pick(each).toFixed(digits)).join(" / ");
  // Redis is idle while limits are off.
  const services = Object.keys(single.micros).filter((name) => name !== "Redis");
  return [
    ...services.map((name) => ({
      what: `CPU an event, µs: ${name}: one a request / 100 a request`,
      figure: both(({ micros }) => micros[name] ?? 0, 0),
    })),
    { what: "NATS messages an event", figure: both(({ messages }) => messages, 2) },
    { what: "NATS bytes an event", figure: both(({ bytes }) => bytes, 0) },
    { what: "round trips to the record an event", figure: both(({ trips }) => trips, 3) },
    { what: "commands an event, one a request", figure: single.commands },
    { what: "commands an event, 100 a request", figure: batch.commands },
  ];
}

async function measureKills(): Promise<Row[]> {
  const cluster = await Cluster.start({ counted: false });
  try {
    const rounds: Failover[] = [];
    for (let round = 0; round < KILLS; round++) {
      const each = await failover(cluster);
      rounds.push(each);
      progress(`  kill ${round + 1}/${KILLS}: all served after ${Math.max(...each.served).toFixed(0)} ms`);
    }
    return killRows(rounds);
  } finally {
    await cluster.stop();
  }
}

function killRows(rounds: Failover[]): Row[] {
  const longest = rounds.map(({ served }) => Math.max(...served));
  const p50 = median(longest);
  const max = Math.max(...longest);
  const keys = rounds.flatMap(({ served }) => served);
  const sum = (pick: (each: Failover) => number) => rounds.reduce((total, each) => total + pick(each), 0);
  const slowest = Math.max(...rounds.map(({ longestAnswer }) => longestAnswer));
  return [
    {
      what: `one of two workers killed under ${200} events/s, ${rounds.length} times: all agents served again, p50`,
      figure: `${(p50 / 1000).toFixed(1)} s`,
      target: "≤ 5 s",
      met: p50 <= 5_000,
    },
    { what: "the same, longest", figure: `${(max / 1000).toFixed(1)} s`, target: "≤ 8 s", met: max <= 8_000 },
    {
      what: "the same by agent, p50 (those of the other worker among them)",
      figure: `${(percentile(keys, 0.5) / 1000).toFixed(2)} s`,
    },
    { what: "longest that a request waited for its answer", figure: `${(slowest / 1000).toFixed(1)} s` },
    {
      what: `accepted and lost, of ${sum(({ accepted }) => accepted)}`,
      // A round fails unless every accepted event is acknowledged.
      figure: "0",
      target: "0",
      met: true,
    },
    { what: "delivered twice", figure: String(sum(({ repeated }) => repeated)) },
    { what: "answered 503, or not at all, and sent again", figure: String(sum(({ refused }) => refused)) },
  ];
}
