import { measureReceipts, typedReceivers } from "./lib/receipts.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { commitMilliseconds, median, percentile } from "./lib/stats.ts";
import { newWorld } from "./lib/world.ts";

const PER_SECOND = 500;
/** V8 pauses the thread for some 25 ms every three seconds: a short round would contain one pause or three. */
const SECONDS = 20;
const ROUNDS = 3;

/** From sending a publish to receiving the delivery by long-poll, at 500 events a second. */
export const latencyPart: Part = {
  name: "latency",
  title: "Publish to long-poll receipt, 500 events/s",
  async run() {
    const world = await newWorld();
    try {
      const receivers = await typedReceivers(world, "latency");
      await measureReceipts(world, receivers, PER_SECOND, 2);
      const rounds: Percentiles[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const times = await measureReceipts(world, receivers, PER_SECOND, SECONDS);
        rounds.push({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) });
        progress(
          `latency ${round + 1}/${ROUNDS}: p50 ${rounds[round]?.p50.toFixed(1)} p99 ${rounds[round]?.p99.toFixed(1)} ms`,
        );
      }
      return rows(rounds, commitMilliseconds(world.server.dataDir));
    } finally {
      await world.stop();
    }
  },
};

/** Milliseconds. */
interface Percentiles {
  p50: number;
  p99: number;
}

function rows(rounds: Percentiles[], commit: number): Row[] {
  const p50 = median(rounds.map((r) => r.p50));
  const p99 = median(rounds.map((r) => r.p99));
  const [most50, most99] = [3 + 3 * commit, 15 + 6 * commit];
  return [
    { what: "commit", figure: `${commit.toFixed(2)} ms` },
    {
      what: "p50",
      figure: `${p50.toFixed(1)} ms`,
      target: `≤ 3 ms + 3 commits = ${most50.toFixed(1)}`,
      met: p50 <= most50,
    },
    {
      what: "p99",
      figure: `${p99.toFixed(1)} ms`,
      target: `≤ 15 ms + 6 commits = ${most99.toFixed(1)}`,
      met: p99 <= most99,
    },
  ];
}
