import { type Part, progress, type Row } from "./lib/report.ts";
import { commitMilliseconds, median, percentile } from "./lib/stats.ts";
import { inParallel, newWorld, type World } from "./lib/world.ts";

const CALLERS = 32;
const RUNS_A_CALLER = 12;
const STEPS = 6;
/** Before measuring: V8 compiles frequent calls in the first seconds. */
const WARM_UP = 4;
const ROUNDS = 5;
const LARGE = 500;

interface Run {
  id: string;
}

/** The time to start and to complete steps. */
export const runsPart: Part = {
  name: "runs",
  title: "Steps of runs",
  async run() {
    const world = await newWorld();
    try {
      for (let round = 0; round < WARM_UP; round++) await transitions(world);
      const rounds: number[][] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const times = await transitions(world);
        rounds.push(times);
        progress(`runs ${round + 1}/${ROUNDS}: p95 ${percentile(times, 0.95).toFixed(1)} ms`);
      }
      const large = await largeRun(world);
      return rows(rounds, large, commitMilliseconds(world.server.dataDir));
    } finally {
      await world.stop();
    }
  },
};

const newRun = ({ client }: World, steps: number): Promise<Run> =>
  client.send("POST", "/runs", {
    goal: "Measure",
    steps: Array.from({ length: steps }, (_, i) => ({
      step_key: `s${i}`,
      instructions: "What is to be done here, in a sentence or two of ordinary length, as people write them.",
      depends_on: i === 0 ? [] : [`s${i - 1}`],
    })),
  });

/** Starts and completes every step of many runs, with concurrent callers, each on its own run. Returns ms per call. */
async function transitions(world: World): Promise<number[]> {
  const runs: Run[] = [];
  await inParallel(CALLERS * RUNS_A_CALLER, CALLERS, async (i) => {
    runs[i] = await newRun(world, STEPS);
  });
  const times: number[] = [];
  await inParallel(runs.length, CALLERS, async (i) => {
    for (let step = 0; step < STEPS; step++) {
      for (const what of ["start", "complete"]) {
        times.push(await timed(world, runs[i] as Run, what, `s${step}`));
      }
    }
  });
  return times;
}

async function largeRun(world: World): Promise<number[]> {
  const run = await newRun(world, LARGE);
  const times: number[] = [];
  for (let step = 0; step < 60; step++) times.push(await timed(world, run, "complete", `s${step}`));
  return times;
}

async function timed({ client }: World, run: Run, what: string, step_key: string): Promise<number> {
  const start = performance.now();
  await client.send("POST", `/runs/${run.id}/steps/${what}`, { step_key });
  return performance.now() - start;
}

function rows(rounds: number[][], large: number[], commit: number): Row[] {
  const p50 = median(rounds.map((times) => percentile(times, 0.5)));
  const p95 = median(rounds.map((times) => percentile(times, 0.95)));
  const most = 10 + 2 * commit;
  const slowest = percentile(large, 1);
  return [
    { what: "commit", figure: `${commit.toFixed(2)} ms` },
    {
      what: `start or complete a step, ${CALLERS} concurrent callers on separate runs: p50`,
      figure: `${p50.toFixed(1)} ms`,
    },
    {
      what: `start or complete a step, ${CALLERS} concurrent callers on separate runs: p95`,
      figure: `${p95.toFixed(1)} ms`,
      target: `≤ 10 ms + 2 commits = ${most.toFixed(1)}`,
      met: p95 <= most,
    },
    {
      what: `complete a step of a run of ${LARGE} steps: median / longest`,
      figure: `${median(large).toFixed(1)} / ${slowest.toFixed(1)} ms`,
      target: "< 50 ms",
      met: slowest < 50,
    },
  ];
}
