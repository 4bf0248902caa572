import { settle } from "../test/support/settle.ts";
import { typedReceivers } from "./latency.ts";
import { measureReceipts } from "./lib/receipts.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { median } from "./lib/stats.ts";
import { inParallel, newReceiver, newWorld, type Receiver, sampleEvent, type World } from "./lib/world.ts";

const READY = 1_000_000;
const LEASED = 100_000;
const WAITING = 100_000;
const PAGE = 100;
// Every poll counts as an attempt of the same ten rows, so it stays under the largest retry budget.
const POLLS = 90;
const HOUR = 3600;

/** A receiver with a million deliveries: what its poll costs, what it does to others, and how a restart takes it. */
export const backlogPart: Part = {
  name: "backlog",
  title: "A receiver with a backlog of 1,200,000",
  async run() {
    const world = await newWorld({
      VISIBILITY_TIMEOUT_SECONDS: String(HOUR),
      RETRY_BUDGET: "100",
      PUSH_ALLOW_PRIVATE: "true",
    });
    try {
      const others = await typedReceivers(world, "fair");
      const alone = await receiptsP99(world, others);
      const small = await newReceiver(world, "com.example.small");
      const large = await newReceiver(world, "com.example.large");
      await publishMany(world, "com.example.small", PAGE);
      await publishMany(world, "com.example.large", READY + LEASED + WAITING);
      await takeAway(large);
      const poll = await pollCost(small, large);
      await deadEndpoint(world);
      const beside = await receiptsP99(world, others);
      return [poll, fairness(alone, beside), await restart(world)];
    } finally {
      await world.server.stop();
    }
  },
};

async function publishMany({ admin }: World, type: string, count: number): Promise<void> {
  await inParallel(count / PAGE, 4, async (batch) => {
    if (batch % 1000 === 0) progress(`backlog: ${batch * PAGE} of ${count} ${type}`);
    const events = Array.from({ length: PAGE }, (_, i) => sampleEvent(`${type}-${batch}-${i}`, type));
    const { status } = await admin.post("/events", events, {
      "content-type": "application/cloudevents-batch+json",
    });
    if (status !== 202) throw new Error(`a batch was answered ${status}`);
  });
  const fannedOut = async () => (await admin.get("/delivery/stats")).body.pending >= count;
  await settle(fannedOut, { within: 120_000 });
}

/** Leases 200,000 of the large receiver's deliveries and puts half of them off by an hour. */
async function takeAway({ api }: Receiver): Promise<void> {
  await inParallel((LEASED + WAITING) / PAGE, 4, async (page) => {
    if (page % 500 === 0) progress(`backlog: ${page * PAGE} taken away`);
    const { deliveries } = (await api.get(`/delivery/poll?limit=${PAGE}`)).body;
    if (page % 2) await giveBack(api, deliveries, HOUR);
  });
}

async function giveBack(
  api: Receiver["api"],
  deliveries: { id: string }[],
  delay_seconds: number,
): Promise<void> {
  await api.post("/delivery/nack", { delivery_ids: deliveries.map(({ id }) => id), delay_seconds });
}

async function pollCost(small: Receiver, large: Receiver): Promise<Row> {
  const times = { small: [] as number[], large: [] as number[] };
  for (let i = 0; i < POLLS; i++) {
    for (const [name, { api }] of [["small", small] as const, ["large", large] as const]) {
      const start = performance.now();
      const { deliveries } = (await api.get("/delivery/poll?limit=10")).body;
      times[name].push(performance.now() - start);
      if (deliveries.length !== 10) throw new Error(`a poll gave ${deliveries.length} deliveries`);
      await giveBack(api, deliveries, 0);
    }
  }
  const [a, b] = [median(times.small), median(times.large)];
  return {
    what: "poll of 10: 100 ready / 1,000,000 ready, 100,000 leased, 100,000 waiting",
    figure: `${a.toFixed(2)} / ${b.toFixed(2)} ms (${(b / a).toFixed(2)}×)`,
    target: "≤ 2×",
    met: b / a <= 2,
  };
}

/** An agent whose push endpoint refuses connections, with ten thousand deliveries for it. */
async function deadEndpoint(world: World): Promise<void> {
  const { id } = await newReceiver(world, "com.example.dead");
  const { status } = await world.admin.patch(`/agents/${id}`, {
    delivery_mode: "push",
    delivery_endpoint: "http://127.0.0.1:9/",
  });
  if (status !== 200) throw new Error(`setting a push endpoint was answered ${status}`);
  await publishMany(world, "com.example.dead", 10_000);
}

async function receiptsP99(
  world: World,
  others: Awaited<ReturnType<typeof typedReceivers>>,
): Promise<number> {
  const rounds: number[] = [];
  await measureReceipts(world, others, 200, 2);
  for (let round = 0; round < 3; round++) rounds.push((await measureReceipts(world, others, 200, 8)).p99);
  return median(rounds);
}

function fairness(alone: number, beside: number): Row {
  return {
    what: "other receivers' p99: alone / beside the backlog and a dead push endpoint",
    figure: `${alone.toFixed(1)} / ${beside.toFixed(1)} ms (${(beside / alone).toFixed(2)}×)`,
    target: "≤ 1.2×",
    met: beside <= alone * 1.2,
  };
}

async function restart({ server }: World): Promise<Row> {
  const start = performance.now();
  await server.restart();
  const seconds = (performance.now() - start) / 1000;
  return {
    what: "stop and start on this store",
    figure: `${seconds.toFixed(1)} s`,
    target: "≤ 3 s",
    met: seconds <= 3,
  };
}
