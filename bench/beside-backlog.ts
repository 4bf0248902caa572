import { setTimeout } from "node:timers/promises";
import { measureGroups, typedReceivers } from "./lib/receipts.ts";
import { progress, type Row } from "./lib/report.ts";
import { inTurns, median, percentile } from "./lib/stats.ts";
import { type TypedReceiver, WAYS } from "./lib/ways.ts";
import { newReceiver, publishMany, type World } from "./lib/world.ts";

// Many short rounds: the machine's slow moments last for seconds and should affect both alike.
const ROUNDS = 32;
const PER_SECOND = 300;
const SECONDS = 1;
const MIDDLE_MS = 600;
const MAX_RATIO = 1.2;
const DEAD_LETTERS_TO_BE = 10_000;
const TYPES = "com.example.fair";

const ten = "[0,1,2,3,4,5,6,7,8,9]";
const nested = (depth: number): string =>
  depth === 0 ? "1 > 0" : `${ten}.all(x${depth}, ${nested(depth - 1)})`;
const text = `'${"a".repeat(200)}!'`;

const allOf = (count: number, predicate: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => predicate(i)).join(" && ");

/** Each takes as much as an evaluation may, or nearly, whatever the event. */
const HOSTILE = {
  nested: nested(8),
  "nested, just within the budget of an evaluation": allOf(4, () => nested(3)),
  long: allOf(11, (i) => `${ten}.all(a, ${ten}.all(b, a + b >= ${-i} || a > 99))`),
  "catastrophic pattern": `${ten}.all(a, ${ten}.all(b, ${text}.matches('^(a+)+$') || ${text}.matches('(.*a){20}c') || true))`,
};

/** A server and its measured receivers: ten for each way of receiving. */
interface Subject {
  world: World;
  groups: TypedReceiver[][];
  /** An admin's dashboard counts everything, once in each one-second round. */
  watched?: boolean;
}

/**
 * Measures how much longer others wait on a server with trouble than on one without, in alternating rounds, by poll,
 * stream and push at once. The figures are medians of the rounds' p99.
 */
export async function besideBacklog(calm: World, crowded: World): Promise<Row[]> {
  const alone = await newSubject(calm);
  const burdened = await newSubject(crowded);
  await deadEndpoint(crowded);
  const backlog = await compare("the backlog and a dead push endpoint", alone, burdened, MAX_RATIO);
  await hostileFilters(crowded);
  const suspending = await measure(burdened);
  const hostile = await compare(
    "the same and four hostile filters on the same events",
    alone,
    burdened,
    MAX_RATIO,
  );
  const watched = { ...burdened, watched: true };
  const statistics = await compare("all this and statistics every second", alone, watched);
  const found = `by ${WAYS.join(" / ")} in the second in which these filters are found out`;
  return [
    ...backlog,
    ...hostile,
    { what: found, figure: `${suspending.map(p99).join(" / ")} ms` },
    ...statistics,
  ];
}

const p99 = (times: number[]) => percentile(times, 0.99).toFixed(1);

async function newSubject(world: World): Promise<Subject> {
  const groups = await Promise.all(WAYS.map((way) => typedReceivers(world, `fair.${way}`, way)));
  return { world, groups };
}

/** Returns one row per way of receiving; `most` is the limit of the quotient. */
async function compare(trouble: string, alone: Subject, burdened: Subject, most?: number): Promise<Row[]> {
  await measure(alone);
  await measure(burdened);
  const [a, b] = await inTurns(ROUNDS, [
    () => reported("alone", measure(alone)),
    () => reported("next to it", measure(burdened)),
  ]);
  return WAYS.map((way, i) =>
    row(way, trouble, p99s(a as number[][][], i), p99s(b as number[][][], i), most),
  );
}

const p99s = (rounds: number[][][], group: number) =>
  rounds.map((times) => percentile(times[group] as number[], 0.99));

function row(way: string, trouble: string, alone: number[], burdened: number[], most?: number): Row {
  const [a, b] = [median(alone), median(burdened)];
  return {
    what: `other receivers' p99 by ${way}, alone / next to ${trouble}`,
    figure: `${a.toFixed(1)} / ${b.toFixed(1)} ms (${(b / a).toFixed(2)}×)`,
    ...(most && { target: `≤ ${most}×`, met: b <= a * most }),
  };
}

async function reported(name: string, measuring: Promise<number[][]>): Promise<number[][]> {
  const times = await measuring;
  progress(
    `next to the backlog: p99 ${name}: ${WAYS.map((way, i) => `${way} ${p99(times[i] as number[])}`).join(", ")} ms`,
  );
  return times;
}

async function measure({ world, groups, watched = false }: Subject): Promise<number[][]> {
  // In the middle of the round: later, the calm server would be affected too.
  const asking = watched && setTimeout(MIDDLE_MS).then(() => world.client.send("GET", "/delivery/stats"));
  const times = await measureGroups(world, groups, PER_SECOND, SECONDS);
  await asking;
  return times;
}

/** Creates an agent whose push endpoint refuses connections, with deliveries for it. */
async function deadEndpoint(world: World): Promise<void> {
  const { id } = await newReceiver(world, "com.example.dead");
  const endpoint = { delivery_mode: "push", delivery_endpoint: "http://127.0.0.1:9/" };
  await world.client.send("PATCH", `/agents/${id}`, endpoint);
  await publishMany(world, "com.example.dead", DEAD_LETTERS_TO_BE, "dead");
}

async function hostileFilters(world: World): Promise<void> {
  const { id } = await world.client.send("POST", "/agents", { name: "attacker", delivery_mode: "poll" });
  for (const filter_expression of Object.values(HOSTILE))
    await world.person.send("POST", `/agents/${id}/interests`, {
      event_type: `${TYPES}.*`,
      filter_expression,
    });
}
