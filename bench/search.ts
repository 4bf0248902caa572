import { BundledEmbedder } from "../connectors/embedders/make.ts";
import { startEmbedder, type TestEmbedder } from "../test/support/embedder.ts";
import { settle } from "../test/support/settle.ts";
import { residentMegabytes } from "./lib/load.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { percentile } from "./lib/stats.ts";
import { inParallel, newWorld, type World } from "./lib/world.ts";

const MEMORIES = 100_000;
const MEASURED = 10_000;
const PER_BATCH = 500;
const LANES = 4;
const SEARCHES = 400;
const WARM_UP = 100;
const WORDS = 30;
const VOCABULARY = 20_000;
const STOP_WORDS = 50;
const DIMS = 512;

/**
 * Searches in a tenant of 100,000 memories, four at a time, and the rate of creating memories. A stand-in computes the
 * memories' vectors; the bundled model, in the generator's process, computes those of the queries.
 */
export const searchPart: Part = {
  name: "search",
  title: "Search in 100,000 memories, 4 at a time",
  async run() {
    const embedder = await startEmbedder();
    embedder.behave({ dims: DIMS });
    const world = await newWorld({ EMBEDDER_URL: embedder.url, EMBEDDER_MODEL: "stand-in" });
    try {
      const perSecond = await fill(world);
      await embedded(world);
      const bundled = await withBundled(embedder, () => searches(world, question));
      const kept = await searches(world, (i) => question(i % WARM_UP));
      return rows({ perSecond, bundled, kept, resident: residentMegabytes(world.server.pid()) });
    } finally {
      await world.stop();
      await embedder.stop();
    }
  },
};

/** Creates the memories; returns the rate per second for the first ones. */
async function fill({ client }: World): Promise<number> {
  const batch = async (n: number) => {
    if (n % 20 === 0) progress(`search: ${n * PER_BATCH} memories`);
    const memories = Array.from({ length: PER_BATCH }, (_, i) => sample(n * PER_BATCH + i));
    await client.send("POST", "/memories/batch", { memories });
  };
  const started = performance.now();
  await inParallel(MEASURED / PER_BATCH, 2, batch);
  const perSecond = (MEASURED * 1000) / (performance.now() - started);
  const last = `unique${MEASURED - 1}x`;
  const { results } = await client.send("POST", "/memories/search", { query: last });
  if (!results[0]?.memory.content.endsWith(last)) throw new Error("a memory is not found by its word");
  const done = MEASURED / PER_BATCH;
  await inParallel(MEMORIES / PER_BATCH - done, 2, (n) => batch(done + n));
  return perSecond;
}

/** Turns of conversations of 50. */
function sample(n: number) {
  const words = Array.from({ length: WORDS }, (_, i) => word(n * WORDS + i));
  const source = { source_type: "conversation", source_id: `c${Math.floor(n / 50)}` };
  return {
    title: `Speaker ${n % 7}`,
    content: `${words.join(" ")} unique${n}x`,
    type: "episodic",
    scope: "agent",
    ...source,
  };
}

/** Six words, as frequent as those of the memories. */
function question(n: number): string {
  return Array.from({ length: 6 }, (_, i) => word(7_000_000 + n * 6 + i)).join(" ");
}

/**
 * Word frequencies are as in a language: the n-th has a share like 1/n, except for the first ones, which carry no
 * meaning.
 */
function word(seed: number): string {
  const random = (Math.imul(seed + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const rank = STOP_WORDS * (VOCABULARY / STOP_WORDS) ** random;
  return `w${Math.floor(rank).toString(36)}x`;
}

async function embedded({ server }: World): Promise<void> {
  const left = async () => {
    const text = await (await fetch(`${server.root}/metrics`)).text();
    return Number(/^sensorium_embed_gap\{of="all"\} (\d+)/m.exec(text)?.[1]);
  };
  const done = async () => {
    const count = await left();
    if (count) progress(`search: ${count} without a vector`);
    return count === 0;
  };
  await settle(done, { within: 1_800_000, every: 5000, what: "every vector" });
}

async function withBundled<T>(embedder: TestEmbedder, work: () => Promise<T>): Promise<T> {
  const bundled = new BundledEmbedder();
  const by = (texts: string[]) => Promise.all(texts.map((text) => bundled.embedQuery(inEnglish(text))));
  for (let i = 0; i < WARM_UP; i++) await by([question(i)]);
  embedder.behave({ by });
  try {
    return await work();
  } finally {
    embedder.behave({ by: null });
    await bundled.close();
  }
}

const ENGLISH =
  "customer renewal contract invoice budget launch meeting supplier deadline engineer server outage report quarter";

/** The invented words belong to no language: a model would cut each into four, and take as long as for many words. */
function inEnglish(text: string): string {
  const words = ENGLISH.split(" ");
  const english = (word: string) => words[Number.parseInt(word.slice(1, -1), 36) % words.length] ?? word;
  return text.replace(/\bw\w+x\b/g, english);
}

interface Times {
  p50: number;
  p95: number;
  /** Answered by words alone, because the vector was late. */
  late: number;
}

async function searches({ client }: World, text: (i: number) => string): Promise<Times> {
  const ask = (i: number): Promise<{ degraded: boolean }> =>
    client.send("POST", "/memories/search", { query: text(i) });
  await inParallel(WARM_UP, LANES, async (i) => void (await ask(i)));
  const times: number[] = [];
  let late = 0;
  await inParallel(SEARCHES, LANES, async (i) => {
    const started = performance.now();
    const { degraded } = await ask(WARM_UP + i);
    times.push(performance.now() - started);
    if (degraded) late++;
  });
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95), late };
}

interface Figures {
  perSecond: number;
  bundled: Times;
  kept: Times;
  resident: number;
}

function rows({ perSecond, bundled, kept, resident }: Figures): Row[] {
  const times = (what: string, { p50, p95, late }: Times, most: number): Row => ({
    what: `${what}: p50 / p95`,
    figure: `${p50.toFixed(1)} / ${p95.toFixed(1)} ms${late ? `, ${late} of ${SEARCHES} without their vector` : ""}`,
    target: `p95 ≤ ${most} ms`,
    met: p95 <= most && late === 0,
  });
  return [
    {
      what: "memories created by batch, searchable by text",
      figure: `${perSecond.toFixed(0)} a second`,
      target: "≥ 1,000",
      met: perSecond >= 1000,
    },
    times("search, vector of the query by the bundled model", bundled, 60),
    times("search, vector of the query kept", kept, 25),
    { what: "resident memory after all this", figure: `${resident.toFixed(0)} MB` },
  ];
}
