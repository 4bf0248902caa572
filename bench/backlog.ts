import { besideBacklog } from "./beside-backlog.ts";
import { type Client, newClient } from "./lib/http.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { median } from "./lib/stats.ts";
import { inParallel, newReceiver, newWorld, publishMany, type World } from "./lib/world.ts";

const READY = 1_000_000;
const LEASED = 100_000;
const WAITING = 100_000;
const STEP = 100_000;
const PAGE = 100;
// Every poll counts as an attempt of the same ten rows, so the number stays under the largest attempt limit.
const POLLS = 90;
const HOUR = 3600;

const ENV = {
  VISIBILITY_TIMEOUT_SECONDS: String(HOUR),
  RETRY_BUDGET: "100",
  PUSH_ALLOW_PRIVATE: "true",
};

/** A receiver with a million deliveries: the cost of its poll, its effect on others, and on a start. */
export const backlogPart: Part = {
  name: "backlog",
  title: "A receiver with a backlog of 1,200,000",
  async run() {
    const calm = await newWorld(ENV);
    const world = await newWorld(ENV);
    try {
      const small = await newReceiver(world, "com.example.small");
      const large = await newReceiver(world, "com.example.large");
      await publishMany(world, "com.example.small", PAGE, "small");
      for (let at = 0; at < READY + LEASED + WAITING; at += STEP) {
        progress(`backlog: ${at} published`);
        await publishMany(world, "com.example.large", STEP, `large-${at}`);
      }
      const polls = [small, large].map(({ token }) => newClient(world.server.url, token)) as [Client, Client];
      await leaseAndDelay(polls[1]);
      const poll = await pollCost(...polls);
      for (const client of polls) client.close();
      return [poll, ...(await besideBacklog(calm, world)), ...(await measureStarts(world))];
    } finally {
      await calm.stop();
      await world.stop();
    }
  },
};

/** Leases 200,000 of the large receiver's deliveries and delays half of them by an hour. */
async function leaseAndDelay(client: Client): Promise<void> {
  await inParallel((LEASED + WAITING) / PAGE, 4, async (page) => {
    if (page % 500 === 0) progress(`backlog: ${page * PAGE} taken away`);
    const { deliveries } = await client.send("GET", `/delivery/poll?limit=${PAGE}`);
    if (page % 2) await giveBack(client, deliveries, HOUR);
  });
}

async function giveBack(client: Client, deliveries: { id: string }[], delay_seconds: number): Promise<void> {
  const delivery_ids = deliveries.map(({ id }) => id);
  await client.send("POST", "/delivery/nack", { delivery_ids, delay_seconds });
}

async function pollCost(small: Client, large: Client): Promise<Row> {
  const times: number[][] = [[], []];
  for (let i = 0; i < POLLS; i++) {
    for (const [which, client] of [small, large].entries()) times[which]?.push(await timedPoll(client));
  }
  const [a, b] = times.map(median) as [number, number];
  return {
    what: "poll of 10: 100 ready / 1,000,000 ready, 100,000 leased, 100,000 waiting",
    figure: `${a.toFixed(2)} / ${b.toFixed(2)} ms (${(b / a).toFixed(2)}×)`,
    target: "≤ 2×",
    met: b / a <= 2,
  };
}

async function timedPoll(client: Client): Promise<number> {
  const start = performance.now();
  const { deliveries } = await client.send("GET", "/delivery/poll?limit=10");
  const ms = performance.now() - start;
  if (deliveries.length !== 10) throw new Error(`a poll gave ${deliveries.length} deliveries`);
  await giveBack(client, deliveries, 0);
  return ms;
}

/** From starting the process to `/readyz`. */
async function measureStarts({ server }: World): Promise<Row[]> {
  const timedStart = async (what: string, end: () => Promise<void>): Promise<Row> => {
    await end();
    const start = performance.now();
    await server.restart();
    const seconds = (performance.now() - start) / 1000;
    return { what, figure: `${seconds.toFixed(1)} s`, target: "≤ 3 s", met: seconds <= 3 };
  };
  return [
    await timedStart("start on this store, after it was stopped", server.end),
    await timedStart("start on this store, after it was killed", server.kill),
  ];
}
