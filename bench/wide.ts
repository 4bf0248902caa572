import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { settle } from "../test/support/settle.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { median } from "./lib/stats.ts";
import { inParallel, newWorld, sampleEvent, type World } from "./lib/world.ts";

const AGENTS = 10_000;
const LARGE_RECEIVERS = 1000;
const MEGABYTE = 1_048_576;
const ROUNDS = 5;

/** One event to ten thousand agents, and a large one to a thousand. */
export const widePart: Part = {
  name: "wide",
  title: "One event to many agents",
  async run() {
    const world = await newWorld();
    try {
      progress(`wide: making ${AGENTS} agents`);
      await inParallel(AGENTS, 32, (i) => makeAgent(world, i));
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) times.push(await visibleAfter(world, round));
      return [visible(times), ...(await growth(world))];
    } finally {
      await world.stop();
    }
  },
};

async function makeAgent({ client, person }: World, i: number): Promise<void> {
  const { id } = await client.send("POST", "/agents", { name: `agent ${i}`, delivery_mode: "poll" });
  const types = i < LARGE_RECEIVERS ? ["com.example.wide", "com.example.large"] : ["com.example.wide"];
  for (const event_type of types) await person.send("POST", `/agents/${id}/interests`, { event_type });
}

/** Milliseconds from sending the publish until all its deliveries can be received. */
async function visibleAfter(world: World, round: number): Promise<number> {
  const start = performance.now();
  await publishAndWait(world, sampleEvent(`wide-${round}`, "com.example.wide"), AGENTS);
  return performance.now() - start;
}

function visible(times: number[]): Row {
  const [typical, longest] = [median(times), Math.max(...times)];
  return {
    what: `one event to ${AGENTS} agents: all deliveries written after (median / longest of ${ROUNDS})`,
    figure: `${typical.toFixed(0)} / ${longest.toFixed(0)} ms`,
    target: "≤ 1,000 ms",
    met: longest <= 1000,
  };
}

/** Starts each event with an empty log, so that all writes count, and only for that event. */
async function growth(world: World): Promise<Row[]> {
  const [atOnce, atRest]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await world.server.restart();
    const before = await storeBytes(world.server.dataDir);
    await publishAndWait(world, largeEvent(`large-${round}`), LARGE_RECEIVERS);
    atOnce.push((await storeBytes(world.server.dataDir)) - before);
    await world.server.restart();
    atRest.push((await storeBytes(world.server.dataDir)) - before);
  }
  return [
    { ...growthRow("what stays", median(atRest)), target: "< 5 MB", met: median(atRest) < 5 * MEGABYTE },
    growthRow("at once, from an empty write-ahead log, which is used again", median(atOnce)),
  ];
}

function growthRow(what: string, bytes: number): Row {
  return {
    what: `a 1 MB event to ${LARGE_RECEIVERS} agents, growth of all files: ${what}`,
    figure: `${(bytes / MEGABYTE).toFixed(1)} MB`,
  };
}

/** Just under the limit of 1 MB, and of the 100,000 values that a body may have. */
function largeEvent(id: string) {
  const line = { sku: "A-1047", quantity: 2, price: 129.5, note: "a gift ".repeat(35) };
  const lines = Array.from(
    { length: Math.floor((MEGABYTE - 1000) / (JSON.stringify(line).length + 1)) },
    () => line,
  );
  return { ...sampleEvent(id, "com.example.large"), data: { lines } };
}

async function publishAndWait({ client }: World, event: object, receivers: number): Promise<void> {
  const { event_id } = await client.send("POST", "/events", event);
  const all = async () => {
    const { deliveries } = await client.send("GET", `/events/${event_id}?receivers=false`);
    return deliveries.pending === receivers;
  };
  await settle(all, { within: 60_000, every: 5 });
}

/** Size of all files in the data directory: the database and its write-ahead log. */
async function storeBytes(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  return files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
