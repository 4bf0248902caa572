import { type Part, progress, type Row } from "./lib/report.ts";
import { percentile } from "./lib/stats.ts";
import { inParallel, newWorld, type World } from "./lib/world.ts";

const MEMORIES = 100_000;
const OUTPUTS = 1000;
const HANDOFFS = 1000;
const PER_BATCH = 500;
const LANES = 4;
const BUNDLES = 200;
const WARM_UP = 40;
const VOCABULARY = 20_000;
const STOP_WORDS = 50;

/** Bundles in a tenant with many memories, four at a time, by words alone: `search` measures vectors. */
export const bundlesPart: Part = {
  name: "bundles",
  title: "Bundles over 100,000 memories, 1,000 outputs and 1,000 handoffs, 4 at a time",
  async run() {
    const world = await newWorld({ EMBEDDER: "none" });
    try {
      await fill(world);
      const fitting = await assemble(world, (i) => ({ query: words(7_000_000 + i * 6, 6) }));
      const latest = await assemble(world, () => ({}));
      return [row("with a query", fitting), row("without one", latest)];
    } finally {
      await world.stop();
    }
  },
};

async function fill({ client }: World): Promise<void> {
  await inParallel(MEMORIES / PER_BATCH, 2, async (n) => {
    if (n % 20 === 0) progress(`bundles: ${n * PER_BATCH} memories`);
    const memories = Array.from({ length: PER_BATCH }, (_, i) => ({
      ...{ title: `Memory ${n * PER_BATCH + i}`, content: words((n * PER_BATCH + i) * 30, 30) },
      ...{ type: "episodic", scope: "agent" },
    }));
    await client.send("POST", "/memories/batch", { memories });
  });
  await inParallel(OUTPUTS, LANES, async (n) => {
    await client.send("POST", "/outputs", { body: `# Output ${n}\n\n${words(3_000_000 + n * 200, 200)}` });
  });
  await inParallel(HANDOFFS, LANES, async (n) => {
    const payload = { remaining: [words(4_000_000 + n * 40, 40)] };
    await client.send("POST", "/handoffs", {
      name: `handoff-${n}`,
      summary: words(5_000_000 + n * 20, 20),
      payload,
    });
  });
}

/**
 * Word frequencies are as in a language: the n-th has a share like 1/n, except for the first ones, which carry no
 * meaning.
 */
function words(seed: number, count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const random = (Math.imul(seed + i + 1, 2_654_435_761) >>> 0) / 2 ** 32;
    return `w${Math.floor(STOP_WORDS * (VOCABULARY / STOP_WORDS) ** random).toString(36)}x`;
  }).join(" ");
}

async function assemble({ client }: World, body: (i: number) => object): Promise<number[]> {
  await inParallel(WARM_UP, LANES, async (i) => void (await client.send("POST", "/bundles", body(i))));
  const times: number[] = [];
  await inParallel(BUNDLES, LANES, async (i) => {
    const started = performance.now();
    const { degraded } = await client.send("POST", "/bundles", body(WARM_UP + i));
    times.push(performance.now() - started);
    if (degraded) throw new Error("a bundle lacks a part");
  });
  return times;
}

function row(what: string, times: number[]): Row {
  const p95 = percentile(times, 0.95);
  return {
    what: `bundle ${what}: p50 / p95`,
    figure: `${percentile(times, 0.5).toFixed(1)} / ${p95.toFixed(1)} ms`,
    target: "p95 ≤ 150 ms",
    met: p95 <= 150,
  };
}
