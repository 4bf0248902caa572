import { settle } from "../test/support/settle.ts";
import { typedReceivers } from "./latency.ts";
import { cpuSeconds } from "./lib/load.ts";
import { measureReceipts } from "./lib/receipts.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { median } from "./lib/stats.ts";
import { created, inParallel, newWorld, sampleEvent, type World } from "./lib/world.ts";

const THIRD = 33_334;
const OWNERS = 334;
const BATCH = 100;
const BATCHES = 100;
const ROUNDS = 3;
const TYPE = "com.example.latency.r0";

interface Stage {
  name: string;
  cpuMicros: number;
  p99: number;
}

/** What interests that do not match cost: other prefixes, other suffixes, and a filter that is false. */
export const interestsPart: Part = {
  name: "interests",
  title: "100,000 interests that do not match",
  async run() {
    const world = await newWorld();
    try {
      const receivers = await typedReceivers(world, "latency");
      const owners = await makeOwners(world);
      const stages: Stage[] = [];
      const measure = async (name: string) => stages.push(await measureStage(world, receivers, name));
      await measure("none");
      await addThird(world, owners, (i) => ({ event_type: `org.other${i % 1000}.kind${i}.*` }));
      await addThird(world, owners, (i) => ({ event_type: `*.other${i}` }));
      await measure("66,668: other prefixes and other suffixes");
      await addThird(world, owners, (i) => ({
        event_type: "com.example.latency.*",
        filter_expression: `data.amount > ${1000 + Math.floor(i / OWNERS)}`,
      }));
      await measure("100,002: and the type with 100 distinct filters that are false");
      return rows(stages);
    } finally {
      await world.server.stop();
    }
  },
};

async function makeOwners({ admin }: World): Promise<string[]> {
  const owners: string[] = [];
  await inParallel(OWNERS, 8, async (i) => {
    owners[i] = (await admin.post("/agents", { name: `owner ${i}`, delivery_mode: "poll" })).body.id;
  });
  return owners;
}

async function addThird({ admin }: World, owners: string[], interest: (i: number) => object): Promise<void> {
  await inParallel(THIRD, 16, async (i) => {
    if (i % 10_000 === 0) progress(`interests: ${i} of ${THIRD}`);
    await created(admin.post(`/agents/${owners[i % OWNERS]}/interests`, interest(i)));
  });
}

async function measureStage(
  world: World,
  receivers: Awaited<ReturnType<typeof typedReceivers>>,
  name: string,
): Promise<Stage> {
  const cpu: number[] = [];
  const p99: number[] = [];
  await cpuPerEvent(world, `${name} warm-up`);
  for (let round = 0; round < ROUNDS; round++) {
    cpu.push(await cpuPerEvent(world, `${name} ${round}`));
    p99.push((await measureReceipts(world, receivers, 200, 4)).p99);
  }
  const stage = { name, cpuMicros: median(cpu), p99: median(p99) };
  progress(`interests, ${name}: ${stage.cpuMicros.toFixed(0)} µs an event, p99 ${stage.p99.toFixed(1)} ms`);
  return stage;
}

/** Server CPU of publishing and fanning out 10,000 events, in microseconds an event. */
async function cpuPerEvent({ admin, server }: World, run: string): Promise<number> {
  const pending = async () => (await admin.get("/delivery/stats")).body.pending as number;
  const wanted = (await pending()) + BATCH * BATCHES;
  const before = cpuSeconds(server.pid());
  for (let batch = 0; batch < BATCHES; batch++) {
    const events = Array.from({ length: BATCH }, (_, i) => sampleEvent(`${run}-${batch}-${i}`, TYPE));
    await admin.post("/events", events, { "content-type": "application/cloudevents-batch+json" });
  }
  await settle(async () => (await pending()) >= wanted, { within: 60_000 });
  return ((cpuSeconds(server.pid()) - before) / (BATCH * BATCHES)) * 1e6;
}

function rows(stages: Stage[]): Row[] {
  const none = stages[0] as Stage;
  return stages.map(({ name, cpuMicros, p99 }, i) => {
    const [cpuRatio, p99Ratio] = [cpuMicros / none.cpuMicros, p99 / none.p99];
    const row: Row = {
      what: name,
      figure: `${cpuMicros.toFixed(0)} µs CPU an event (${cpuRatio.toFixed(2)}×), receipt p99 ${p99.toFixed(1)} ms (${p99Ratio.toFixed(2)}×)`,
    };
    if (i === 1) Object.assign(row, { target: "≤ 1.10×", met: cpuRatio <= 1.1 && p99Ratio <= 1.1 });
    return row;
  });
}
