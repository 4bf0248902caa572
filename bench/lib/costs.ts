import type { Cluster } from "./cluster.ts";
import { saturate } from "./trips.ts";

/** The cost of an event, from publish to ack. */
export interface Cost {
  /** CPU of each process, in microseconds. */
  micros: Record<string, number>;
  /** Between nodes. */
  messages: number;
  bytes: number;
  /** Round trips to MongoDB. */
  trips: number;
  /** The most frequent commands, with their number per event. */
  commands: string;
}

/** A process for each service that every event passes through, and one for all others. */
const SPREAD = { events: ["events"], interests: ["interests"], deliveries: ["deliveries"] };
const OTHERS = [
  "-gateway",
  ...Object.values(SPREAD)
    .flat()
    .map((name) => `-${name}`),
];
const NAMES = [...Object.keys(SPREAD), "all other services"];
const AGENTS = 8;
const SECONDS = 8;
const IDLE_MS = 8_000;
const SHOWN_COMMANDS = 9;

export interface Sample {
  at: number;
  cpu: Record<string, number>;
  messages: number;
  bytes: number;
  commands: Map<string, number>;
}

/** Measures the cost of events, published one by one and in batches of 100, without the nodes' idle work. */
export async function costs(cluster: Cluster): Promise<{ single: Cost; batch: Cost }> {
  await cluster.spread([...Object.values(SPREAD), OTHERS]);
  const traffic = await cluster.traffic(AGENTS);
  await saturate(traffic, AGENTS, { lanes: 32, seconds: 2 });
  const resting = await measure(cluster, () => new Promise((next) => setTimeout(next, IDLE_MS)));
  const measured = async (how: { lanes: number; batch?: number }): Promise<Cost> => {
    await cluster.forget();
    const before = traffic.accepted;
    const spent = await measure(cluster, () => saturate(traffic, AGENTS, { ...how, seconds: SECONDS }));
    return costOf(spent, resting, traffic.accepted - before);
  };
  const single = await measured({ lanes: 32 });
  const batch = await measured({ lanes: 4, batch: 100 });
  await traffic.stop();
  return { single, batch };
}

/** Measures the cost of some work. */
export async function measure(cluster: Cluster, work: () => Promise<unknown>): Promise<Sample> {
  const before = await sample(cluster);
  await work();
  const after = await sample(cluster);
  const cpu = Object.entries(after.cpu).map(([name, seconds]) => [name, seconds - (before.cpu[name] ?? 0)]);
  const commands = [...after.commands].map(
    ([name, count]) => [name, count - (before.commands.get(name) ?? 0)] as const,
  );
  return {
    at: after.at - before.at,
    cpu: Object.fromEntries(cpu),
    messages: after.messages - before.messages,
    bytes: after.bytes - before.bytes,
    commands: new Map(commands),
  };
}

async function sample(cluster: Cluster): Promise<Sample> {
  const { messages, bytes } = await cluster.nodes.nats.counts();
  const commands = new Map(cluster.way?.counts());
  return { at: performance.now(), cpu: cluster.cpu(), messages, bytes, commands };
}

/** Returns the cost of an event: of the work, less what the nodes do at rest in the same time. */
export function costOf(spent: Sample, resting: Sample, events: number): Cost {
  const share = spent.at / resting.at;
  const each = (busy: number, idle: number) => (busy - idle * share) / events;
  const micros = Object.entries(spent.cpu).map(([name, seconds]) => [
    NAMES[Number(/^worker (\d)/.exec(name)?.[1])] ?? name,
    each(seconds, resting.cpu[name] ?? 0) * 1e6,
  ]);
  const commands = [...spent.commands]
    .map(([name, count]) => [name, each(count, resting.commands.get(name) ?? 0)] as const)
    .sort(([, a], [, b]) => b - a);
  const shown = commands.slice(0, SHOWN_COMMANDS).map(([name, count]) => `${name} ${count.toFixed(3)}`);
  return {
    micros: Object.fromEntries(micros),
    messages: each(spent.messages, resting.messages),
    bytes: each(spent.bytes, resting.bytes),
    trips: commands.reduce((sum, [, count]) => sum + count, 0),
    commands: shown.join(", "),
  };
}
