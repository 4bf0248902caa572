import { measureReceipts, type Receipts, type TypedReceiver, typedReceivers } from "./lib/receipts.ts";
import { progress, type Row } from "./lib/report.ts";
import { inTurns, median } from "./lib/stats.ts";
import { newReceiver, publishMany, type World } from "./lib/world.ts";

const ROUNDS = 9;
const PER_SECOND = 300;
const SECONDS = 3;
const MOST = 1.2;
const DEAD_LETTERS_TO_BE = 10_000;
const TYPES = "com.example.fair";

const ten = "[0,1,2,3,4,5,6,7,8,9]";
const nested = (depth: number): string =>
  depth === 0 ? "1 > 0" : `${ten}.all(x${depth}, ${nested(depth - 1)})`;
const text = `'${"a".repeat(200)}!'`;

const allOf = (count: number, predicate: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => predicate(i)).join(" && ");

/** Each takes as much as an evaluation may, or nearly so, whatever the event. */
const HOSTILE = {
  nested: nested(8),
  "nested, just within the budget of an evaluation": allOf(4, () => nested(3)),
  long: allOf(11, (i) => `${ten}.all(a, ${ten}.all(b, a + b >= ${-i} || a > 99))`),
  "catastrophic pattern": `${ten}.all(a, ${ten}.all(b, ${text}.matches('^(a+)+$') || ${text}.matches('(.*a){20}c') || true))`,
};

/** A server, and receivers on it whose waiting is measured. */
interface Subject {
  world: World;
  receivers: TypedReceiver[];
}

/** How much longer others wait on a server with trouble than on one without, the two side by side. */
export async function fairness(calm: World, crowded: World): Promise<Row[]> {
  const alone = await newSubject(calm);
  const beside = await newSubject(crowded);
  await deadEndpoint(crowded);
  const backlog = await compare("the backlog, a dead push endpoint, statistics every second", alone, beside);
  await hostileFilters(crowded);
  const suspending = await measureBeside(beside);
  const hostile = await compare("the same and four hostile filters on the same events", alone, beside);
  return [
    backlog,
    hostile,
    {
      what: `in the ${SECONDS} s before that, in which the filters are found out and suspended`,
      figure: `${suspending.p99.toFixed(1)} ms`,
    },
  ];
}

async function newSubject(world: World): Promise<Subject> {
  return { world, receivers: await typedReceivers(world, "fair") };
}

async function compare(trouble: string, alone: Subject, beside: Subject): Promise<Row> {
  await measure(alone);
  await measureBeside(beside);
  const results = await inTurns(ROUNDS, [() => measure(alone), () => measureBeside(beside)]);
  const p99s = results.map((rounds) => rounds.map(({ p99 }) => p99));
  progress(
    `fairness: alone / beside ${trouble}: ${p99s.map((each) => each.map((ms) => ms.toFixed(1))).join(" / ")} ms`,
  );
  const [a, b] = p99s.map(median) as [number, number];
  return {
    what: `other receivers' p99, alone / beside ${trouble}`,
    figure: `${a.toFixed(1)} / ${b.toFixed(1)} ms (${(b / a).toFixed(2)}×)`,
    target: `≤ ${MOST}×`,
    met: b <= a * MOST,
  };
}

const measure = ({ world, receivers }: Subject): Promise<Receipts> =>
  measureReceipts(world, receivers, PER_SECOND, SECONDS);

/** While an admin's dashboard counts everything every second: only meanwhile, or the calm server would feel it too. */
async function measureBeside(subject: Subject): Promise<Receipts> {
  let asking: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    asking = asking.then(() => subject.world.client.send("GET", "/delivery/stats"));
  }, 1000);
  const receipts = await measure(subject);
  clearInterval(timer);
  await asking;
  return receipts;
}

/** An agent whose push endpoint refuses connections, with deliveries for it. */
async function deadEndpoint(world: World): Promise<void> {
  const { id } = await newReceiver(world, "com.example.dead");
  const endpoint = { delivery_mode: "push", delivery_endpoint: "http://127.0.0.1:9/" };
  await world.client.send("PATCH", `/agents/${id}`, endpoint);
  await publishMany(world, "com.example.dead", DEAD_LETTERS_TO_BE, "dead");
}

async function hostileFilters(world: World): Promise<void> {
  const { id } = await world.client.send("POST", "/agents", { name: "attacker", delivery_mode: "poll" });
  for (const filter_expression of Object.values(HOSTILE))
    await world.client.send("POST", `/agents/${id}/interests`, {
      event_type: `${TYPES}.*`,
      filter_expression,
    });
}
