/**
 * `npm run bench:peers [-- FILE]`: other systems in the same run as ours. Memories first: the recall of
 * conversations as in `bench:recall`, whose FILE it takes; without it, the sample. Then message brokers. Writes docs/benchmarks.md.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { settle } from "../test/support/settle.ts";
import { ToolsUnavailable } from "../test/support/tools.ts";
import { type Consumed, consume, groupOf } from "./consume.ts";
import type { Cannon } from "./lib/broker-cannon.ts";
import { BROKERS } from "./lib/brokers.ts";
import { cpuSecondsWithChildren } from "./lib/load.ts";
import { memoryPeers } from "./lib/memory-peers.ts";
import { type Part, progress, type Row, writeSection } from "./lib/report.ts";
import { inTurns, median } from "./lib/stats.ts";
import { newWorld, type World } from "./lib/world.ts";

const RECEIVERS = [1, 4, 16];
const ROUNDS = 3;
const SECONDS = 4;
const PUBLISHERS = 64;
const SETTLING_MS = 300;
const OURS = ["next", "SSE", "push"] as const;

type Measured = Pick<Consumed, "perSecond" | "share" | "micros" | "published">;
/** Measures one round. */
type Round = (receivers: number) => Promise<Measured>;

const brokers: Part = {
  name: "peers",
  title: "Receiving while publishing, next to message brokers",
  note: `${PUBLISHERS} publishers of single events for ${SECONDS} seconds, each event for all receivers, everything synced to the disk
before it is confirmed, one node, by one client library each in Node.js. Deliveries a second · share received while publishing · CPU of all
of the server's processes for each delivery, publishing included · published a second. Medians of ${ROUNDS} interleaved rounds.`,
  async run() {
    const systems = await startAll();
    try {
      const rows: Row[] = [];
      for (const receivers of RECEIVERS) {
        const measured = await inTurns(
          ROUNDS,
          systems.map(({ title, round }) => async () => {
            const result = await round(receivers);
            progress(`${title}, ${receivers}: ${shown(result)}`);
            return result;
          }),
        );
        for (const [i, { title }] of systems.entries())
          rows.push({ what: `${title}: ${receivers} receiving`, figure: medians(measured[i] as Measured[]) });
      }
      return rows;
    } finally {
      for (const { stop } of systems) await stop();
    }
  },
};

interface System {
  title: string;
  round: Round;
  stop(): Promise<unknown>;
}

async function startAll(): Promise<System[]> {
  const world = await newWorld({ PUSH_ALLOW_PRIVATE: "true" });
  const systems: System[] = OURS.map((way, i) => ({
    title: `Sensorium, ${way}`,
    round: ourRound(world, way),
    stop: async () => i === 0 && world.stop(),
  }));
  for (const name of Object.keys(BROKERS) as (keyof typeof BROKERS)[]) {
    try {
      systems.push(await startBroker(name));
    } catch (err) {
      if (!(err instanceof ToolsUnavailable)) throw err;
      progress(`${BROKERS[name].title} is left out: ${err.message}`);
    }
  }
  return systems;
}

function ourRound(world: World, way: (typeof OURS)[number]): Round {
  const groups = new Map<number, ReturnType<typeof groupOf>>();
  return async (receivers) => {
    const group = groups.get(receivers) ?? groupOf(world, `com.example.${way}${receivers}`, way, receivers);
    groups.set(receivers, group);
    return consume(world, way, await group, SECONDS);
  };
}

async function startBroker(broker: keyof typeof BROKERS): Promise<System> {
  const { title, start, create, receive } = BROKERS[broker];
  const { url, pid, stop } = await start();
  let topics = 0;
  const round: Round = async (receivers) => {
    const topic = `topic${topics++}`;
    await create(url, topic, receivers);
    const over = new AbortController();
    let received = 0;
    const receiving = Promise.all(
      Array.from({ length: receivers }, (_, i) => receive(url, topic, i, () => received++, over.signal)),
    );
    await new Promise((next) => setTimeout(next, SETTLING_MS));
    const before = cpuSecondsWithChildren(pid);
    const { published, seconds } = await publish({
      broker,
      url,
      topic,
      publishers: PUBLISHERS,
      seconds: SECONDS,
    });
    const [ended, atEnd] = [performance.now(), received];
    const due = published * receivers;
    await settle(() => received >= due, { within: 120_000, what: `every delivery of ${title}` });
    const perSecond = due / (seconds + (performance.now() - ended) / 1000);
    over.abort();
    await receiving;
    const micros = ((cpuSecondsWithChildren(pid) - before) / due) * 1e6;
    return { perSecond, share: Math.min(1, atEnd / due), micros, published: published / SECONDS };
  };
  return { title, round, stop };
}

async function publish(cannon: Cannon): Promise<{ published: number; seconds: number }> {
  const script = join(import.meta.dirname, "lib/broker-cannon.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(cannon)]);
  return JSON.parse(stdout);
}

function medians(all: Measured[]): string {
  const of = (key: keyof Measured) => median(all.map((each) => each[key]));
  return shown({
    perSecond: of("perSecond"),
    share: of("share"),
    micros: of("micros"),
    published: of("published"),
  });
}

function shown({ perSecond, share, micros, published }: Measured): string {
  return `${perSecond.toFixed(0)} · ${(share * 100).toFixed(0)} % · ${micros.toFixed(1)} µs · ${published.toFixed(0)}`;
}

const file = process.argv[2];
for (const part of [memoryPeers(file), brokers]) {
  const rows = await part.run();
  // The sample conversation only shows that it works.
  if (part === brokers || file) writeSection(part, rows);
}
process.exit();
