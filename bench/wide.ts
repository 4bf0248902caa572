import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { settle } from "../test/support/settle.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { created, inParallel, newAgent, newWorld, sampleEvent, type World } from "./lib/world.ts";

const AGENTS = 10_000;
const LARGE_RECEIVERS = 1000;
const MEGABYTE = 1_048_576;

/** One event to ten thousand agents, and a large one to a thousand. */
export const widePart: Part = {
  name: "wide",
  title: "One event to many agents",
  async run() {
    const world = await newWorld();
    try {
      progress(`wide: making ${AGENTS} agents`);
      await inParallel(AGENTS, 16, async (i) => {
        const id = await newAgent(world, "com.example.wide");
        if (i < LARGE_RECEIVERS)
          await created(world.admin.post(`/agents/${id}/interests`, { event_type: "com.example.large" }));
      });
      return [await visible(world), await growth(world)];
    } finally {
      await world.server.stop();
    }
  },
};

async function visible(world: World): Promise<Row> {
  const start = performance.now();
  await publishAndWait(world, sampleEvent("wide-1", "com.example.wide"), AGENTS);
  const ms = performance.now() - start;
  return {
    what: `one event to ${AGENTS} agents: all deliveries there after`,
    figure: `${ms.toFixed(0)} ms`,
    target: "≤ 1,000 ms",
    met: ms <= 1000,
  };
}

async function growth(world: World): Promise<Row> {
  const before = await storeBytes(world.server.dataDir);
  const event = { ...sampleEvent("large-1", "com.example.large"), data: "x".repeat(MEGABYTE - 1000) };
  await publishAndWait(world, event, LARGE_RECEIVERS);
  const megabytes = ((await storeBytes(world.server.dataDir)) - before) / MEGABYTE;
  return {
    what: `a 1 MB event to ${LARGE_RECEIVERS} agents: the store grows by`,
    figure: `${megabytes.toFixed(1)} MB`,
    target: "< 5 MB",
    met: megabytes < 5,
  };
}

async function publishAndWait({ admin }: World, event: object, receivers: number): Promise<void> {
  const { body } = await admin.post("/events", event);
  const all = async () => {
    const stats = (await admin.get(`/events/${body.event_id}?receivers=false`)).body.deliveries;
    return stats.pending === receivers;
  };
  await settle(all, { within: 60_000 });
}

/** All files of the data directory: the database and its write-ahead log. */
async function storeBytes(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  return files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
