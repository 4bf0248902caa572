import type { Traffic, Trip } from "../../test/support/traffic.ts";
import { percentile } from "./stats.ts";

/** Milliseconds from sending a publish to its acknowledgement, and the rate per second. */
export interface Trips {
  perSecond: number;
  p50: number;
  p99: number;
}

/** Publishes as fast as answers arrive, `lanes` requests at a time, for `seconds`; then waits for the rest. */
export async function saturate(
  traffic: Traffic,
  agents: number,
  { lanes, seconds, batch = 1 }: { lanes: number; seconds: number; batch?: number },
): Promise<Trips> {
  const before = traffic.trips.length;
  const start = performance.now();
  let n = 0;
  const lane = async () => {
    while (performance.now() - start < seconds * 1000) await traffic.publish(n++ % agents, batch);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await traffic.drained();
  return tripsOf(traffic.trips.slice(before), (performance.now() - start) / 1000);
}

/** Publishes at a steady rate, one event per request. Open loop: a slow answer does not slow the publisher down. */
export async function pace(
  traffic: Traffic,
  agents: number,
  { perSecond, until }: { perSecond: number; until(): boolean },
): Promise<Trips> {
  const before = traffic.trips.length;
  const start = performance.now();
  const asked: Promise<void>[] = [];
  for (let n = 0; !until(); n++) {
    const due = start + (n * 1000) / perSecond;
    while (performance.now() < due) await new Promise((next) => setTimeout(next, 1));
    asked.push(traffic.publish(n % agents));
  }
  await Promise.all(asked);
  await traffic.drained();
  return tripsOf(traffic.trips.slice(before), (performance.now() - start) / 1000);
}

function tripsOf(trips: Trip[], seconds: number): Trips {
  const times = trips.map(({ sentAt, acknowledgedAt }) => acknowledgedAt - sentAt);
  return { perSecond: trips.length / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
