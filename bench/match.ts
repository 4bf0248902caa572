// The cost of matching an event with 100,000 interests, compared to none: `node --expose-gc bench/match.ts`.
import { MatchIndex } from "../services/sense/interests/match-index.ts";
import type { Subscription } from "../services/sense/interests/receiver.ts";

const INTERESTS = 100_000;
const ROUNDS = 5;

const event = {
  specversion: "1.0",
  id: "1",
  source: "/bench",
  type: "com.github.pull_request.opened",
  data: {
    action: "opened",
    number: 17,
    pull_request: { draft: false, title: "Fix the thing", labels: [{ name: "bug" }, { name: "ui" }] },
    sender: { login: "octocat" },
  },
};

type Make = (i: number) => { glob: string; filter?: string };
const otherPrefix: Make = (i) => ({ glob: `com.other${i}.*` });
const otherSuffix: Make = (i) => ({ glob: `*.x${i}` });
const sameFilter: Make = () => ({ glob: "com.github.*", filter: 'data.action == "closed"' });
const distinctFilters: Make = (i) => ({ glob: "com.github.*", filter: `data.number > ${100 + i}` });
const missingField: Make = (i) => ({ glob: "com.github.*", filter: `data.amount > ${100 + i}` });

const thirds = (...makes: Make[]): Subscription[] =>
  Array.from({ length: INTERESTS }, (_, i) => subscription(i, (makes[i % makes.length] as Make)(i)));

function subscription(i: number, { glob, filter }: ReturnType<Make>): Subscription {
  const base = {
    id: `int_${i}`,
    kind: "interest" as const,
    agent_id: `ag_${i % 1000}`,
    glob,
    priority: i % 10,
  };
  return filter === undefined ? base : { ...base, filter };
}

const cases: [name: string, make: () => Subscription[]][] = [
  ["none", () => []],
  ["other prefixes", () => thirds(otherPrefix)],
  ["*.x suffixes", () => thirds(otherSuffix)],
  ["thirds: prefixes, suffixes, one false filter", () => thirds(otherPrefix, otherSuffix, sameFilter)],
  [
    "thirds: prefixes, suffixes, 33,333 false filters",
    () => thirds(otherPrefix, otherSuffix, distinctFilters),
  ],
  [
    "thirds: prefixes, suffixes, 33,333 failing filters",
    () => thirds(otherPrefix, otherSuffix, missingField),
  ],
];

console.log("µs per event (median of rounds), time to build, heap of index and subscriptions");
for (const [name, make] of cases) await run(name, make);

async function run(name: string, make: () => Subscription[]): Promise<void> {
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const started = performance.now();
  const index = new MatchIndex(make());
  const built = performance.now() - started;
  await index.match(event);
  globalThis.gc?.();
  const heap = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20;
  const rounds: number[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await microsecondsPerEvent(index));
  rounds.sort((a, b) => a - b);
  const median = (rounds[Math.floor(ROUNDS / 2)] as number).toFixed(2);
  console.log(
    `${name.padEnd(52)} ${median.padStart(10)} µs ${built.toFixed(0).padStart(6)} ms ${heap.toFixed(1).padStart(6)} MB`,
  );
}

async function microsecondsPerEvent(index: MatchIndex): Promise<number> {
  const until = performance.now() + 300;
  const started = performance.now();
  let events = 0;
  while (performance.now() < until) {
    await index.match(event);
    events++;
  }
  return ((performance.now() - started) * 1000) / events;
}
