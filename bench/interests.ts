import { cpuSeconds, residentMegabytes } from "./lib/load.ts";
import { measureReceipts, typedReceivers } from "./lib/receipts.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { inTurns, median, percentile } from "./lib/stats.ts";
import type { TypedReceiver } from "./lib/ways.ts";
import { inParallel, newReceiver, newWorld, publishMany, type World } from "./lib/world.ts";

const THIRD = 33_334;
const OWNERS = 334;
const EVENTS = 20_000;
const CPU_ROUNDS = 7;
// Many short rounds: the machine's slow moments last for seconds and should affect both alike.
const ROUNDS = 32;
const PER_SECOND = 300;
const SECONDS = 1;
/** The events for CPU figures go to another receiver, so that no measured poll returns them. */
const UNREAD_TYPE = "com.example.latency.unread";

/** A server and its receivers, none of whose interests is one of the many. */
interface Subject {
  world: World;
  receivers: TypedReceiver[];
}

interface Figures {
  cpuMicros: number;
  p99: number;
}

/**
 * The cost of interests that do not match: other prefixes, other suffixes, and a filter that is false. Runs two servers
 * side by side, one without such interests and one with a growing number, so that nothing else differs.
 */
export const interestsPart: Part = {
  name: "interests",
  title: "100,000 interests that do not match",
  async run() {
    const none = await newSubject();
    const many = await newSubject();
    try {
      const owners = await makeOwners(many.world);
      const started = performance.now();
      await addThird(many.world, owners, (i) => ({ event_type: `org.other${i % 1000}.kind${i}.*` }));
      await addThird(many.world, owners, (i) => ({ event_type: `*.other${i}` }));
      const perSecond = (2 * THIRD * 1000) / (performance.now() - started);
      const first = await compare("66,668: other prefixes and other suffixes", none, many);
      await addThird(many.world, owners, (i) => ({
        event_type: "com.example.latency.*",
        filter_expression: `data.amount > ${1000 + Math.floor(i / OWNERS)}`,
      }));
      const all = await compare("100,002: and the type with 100 distinct false filters", none, many);
      return [...rows(first, 1.1), ...rows(all), making(perSecond), memory(none, many)];
    } finally {
      await none.world.stop();
      await many.world.stop();
    }
  },
};

async function newSubject(): Promise<Subject> {
  const world = await newWorld();
  await newReceiver(world, UNREAD_TYPE);
  return { world, receivers: await typedReceivers(world, "latency") };
}

async function makeOwners({ client }: World): Promise<string[]> {
  const owners: string[] = [];
  await inParallel(OWNERS, 8, async (i) => {
    const { id } = await client.send("POST", "/agents", { name: `owner ${i}`, delivery_mode: "poll" });
    owners[i] = id;
  });
  return owners;
}

async function addThird({ person }: World, owners: string[], interest: (i: number) => object): Promise<void> {
  await inParallel(THIRD, 64, async (i) => {
    if (i % 10_000 === 0) progress(`interests: ${i} of ${THIRD}`);
    await person.send("POST", `/agents/${owners[i % OWNERS]}/interests`, interest(i));
  });
}

interface Comparison {
  name: string;
  none: Figures;
  many: Figures;
}

async function compare(name: string, none: Subject, many: Subject): Promise<Comparison> {
  const subjects = [none, many];
  for (const subject of subjects) await cpuPerEvent(subject, `${name} warm-up`);
  let round = 0;
  const cpu = await inTurns(
    CPU_ROUNDS,
    subjects.map((subject) => () => cpuPerEvent(subject, `${name} ${round++}`)),
  );
  const p99s = await inTurns(
    ROUNDS,
    subjects.map((subject) => () => p99(subject)),
  );
  const figures = (i: number): Figures => ({
    cpuMicros: median(cpu[i] as number[]),
    p99: median(p99s[i] as number[]),
  });
  const comparison = { name, none: figures(0), many: figures(1) };
  progress(`interests: ${name}: ${JSON.stringify(comparison)}`);
  return comparison;
}

/** Of one second's receipts, in ms. */
async function p99({ world, receivers }: Subject): Promise<number> {
  return percentile(await measureReceipts(world, receivers, PER_SECOND, SECONDS), 0.99);
}

/** Server CPU for publishing and fanning out an event, in microseconds, all threads. */
async function cpuPerEvent({ world }: Subject, run: string): Promise<number> {
  const before = cpuSeconds(world.server.pid());
  await publishMany(world, UNREAD_TYPE, EVENTS, run);
  return ((cpuSeconds(world.server.pid()) - before) / EVENTS) * 1e6;
}

function rows({ name, none, many }: Comparison, most?: number): Row[] {
  const row = (what: string, a: number, b: number, unit: string): Row => ({
    what: `${name}: ${what}, without / with`,
    figure: `${a.toFixed(1)} / ${b.toFixed(1)} ${unit} (${(b / a).toFixed(2)}×)`,
    ...(most && { target: `≤ ${most.toFixed(2)}×`, met: b / a <= most }),
  });
  return [
    row("server CPU an event, publish and fan-out", none.cpuMicros, many.cpuMicros, "µs"),
    row("receipt p99", none.p99, many.p99, "ms"),
  ];
}

function making(perSecond: number): Row {
  return {
    what: "interests created, one request each, 64 connections",
    figure: `${perSecond.toFixed(0)} a second`,
  };
}

function memory(none: Subject, many: Subject): Row {
  const [a, b] = [none, many].map(({ world }) => residentMegabytes(world.server.pid())) as [number, number];
  return {
    what: "resident memory after all this, uncollected garbage included, without / with",
    figure: `${a.toFixed(0)} / ${b.toFixed(0)} MB`,
  };
}
