import type { Traffic } from "../../test/support/traffic.ts";
import type { Cluster } from "./cluster.ts";
import { pace } from "./trips.ts";

const AGENTS = 20;
const PER_SECOND = 200;
/** Normal operation before the kill. */
const BEFORE_MS = 2_000;
const TIMEOUT_MS = 30_000;
/** The killed worker's deliveries are redelivered after this time; its claim on fan-out lasts as long. */
const LEASE_SECONDS = 10;

/** The effect of one kill. Milliseconds. */
export interface Failover {
  /** From the kill until each agent has received and acknowledged an event published after it. */
  served: number[];
  accepted: number;
  repeated: number;
  /** Answers that asked for a retry. */
  refused: number;
  longestAnswer: number;
}

/** Kills one of two workers under load, and then replaces it. */
export async function failover(cluster: Cluster): Promise<Failover> {
  await cluster.scale(2);
  await cluster.forget();
  const traffic = await cluster.traffic(AGENTS, { visibility_timeout_seconds: LEASE_SECONDS });
  const start = performance.now();
  const at = { kill: Number.POSITIVE_INFINITY };
  const isOver = () => {
    const since = performance.now() - at.kill;
    return since > 0 && (since > TIMEOUT_MS || servedAfter(traffic, at.kill).length === AGENTS);
  };
  const publishing = pace(traffic, AGENTS, { perSecond: PER_SECOND, until: isOver });
  while (performance.now() - start < BEFORE_MS) await new Promise((next) => setTimeout(next, 10));
  at.kill = performance.now();
  await cluster.workers.shift()?.end("SIGKILL", 5_000);
  await publishing;
  await traffic.stop();
  const { accepted, repeated, refused, longestMs: longestAnswer } = traffic;
  return { served: servedAfter(traffic, at.kill), accepted, repeated, refused, longestAnswer };
}

function servedAfter({ trips }: Traffic, kill: number): number[] {
  const first = new Map<number, number>();
  for (const { party, sentAt, acknowledgedAt } of trips) {
    if (sentAt <= kill) continue;
    first.set(party, Math.min(first.get(party) ?? Number.POSITIVE_INFINITY, acknowledgedAt - kill));
  }
  return [...first.values()];
}
