import { settle } from "../test/support/settle.ts";
import { BATCH_TYPE, newClient } from "./lib/http.ts";
import { cpuSeconds } from "./lib/load.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { inTurns, median } from "./lib/stats.ts";
import { fannedOut, inParallel, newReceiver, newWorld, sampleEvent, type World } from "./lib/world.ts";

const KEYS = 1_500;
const EVENTS = 6_000;
const BATCH = 100;
const POLLERS = 4;
const ROUNDS = 3;
const MIN_PER_SECOND = 2_000;

interface Drained {
  perSecond: number;
  micros: number;
}

/** The cost of a backlog whose events are delivered one after the other by a key. */
export const orderedPart: Part = {
  name: "ordered",
  title: "A backlog with an ordering key",
  note: `${EVENTS} waiting events, received and acknowledged in pages of ${BATCH} by ${POLLERS} pollers of one agent: with an
ordering key of ${KEYS} values, and without. In turns, medians of ${ROUNDS} rounds.`,
  async run() {
    const world = await newWorld();
    try {
      const plain = await newReceiver(world, "com.example.plain");
      const ordered = await newReceiver(world, "com.example.ordered", { ordering_key: "subject" });
      const [without, withKey] = (await inTurns(ROUNDS, [
        () => drain(world, plain.token, "com.example.plain"),
        () => drain(world, ordered.token, "com.example.ordered"),
      ])) as [Drained[], Drained[]];
      return rowsOf(without, withKey);
    } finally {
      await world.stop();
    }
  },
};

let rounds = 0;

async function drain(world: World, token: string, type: string): Promise<Drained> {
  const round = rounds++;
  await inParallel(EVENTS / BATCH, 6, async (batch) => {
    const events = Array.from({ length: BATCH }, (_, i) => {
      const n = batch * BATCH + i;
      return { ...sampleEvent(`${round}-${n}`, type), subject: `order-${n % KEYS}` };
    });
    await world.client.send("POST", "/events", events, BATCH_TYPE);
  });
  await fannedOut(world);
  const clients = Array.from({ length: POLLERS }, () => newClient(world.server.url, token));
  const before = cpuSeconds(world.server.pid());
  const began = performance.now();
  let [received, lastAt] = [0, began];
  const receiving = clients.map(async (client) => {
    while (received < EVENTS) {
      const { deliveries } = await client.send("GET", `/delivery/poll?limit=${BATCH}&wait=1`);
      if (deliveries.length === 0) continue;
      received += deliveries.length;
      const delivery_ids = (deliveries as { id: string }[]).map(({ id }) => id);
      await client.send("POST", "/delivery/ack", { delivery_ids });
      lastAt = performance.now();
    }
  });
  await settle(() => received >= EVENTS, { within: 300_000, what: "the backlog" });
  const micros = ((cpuSeconds(world.server.pid()) - before) / EVENTS) * 1e6;
  await Promise.all(receiving);
  for (const client of clients) client.close();
  const perSecond = EVENTS / ((lastAt - began) / 1000);
  progress(`${type}: ${perSecond.toFixed(0)} a second, ${micros.toFixed(0)} µs of the server's CPU each`);
  return { perSecond, micros };
}

function rowsOf(without: Drained[], withKey: Drained[]): Row[] {
  const of = (measured: Drained[], pick: (each: Drained) => number) => median(measured.map(pick));
  const [plain, ordered] = [without, withKey].map((each) => of(each, ({ perSecond }) => perSecond)) as [
    number,
    number,
  ];
  const [cheap, dear] = [without, withKey].map((each) => of(each, ({ micros }) => micros)) as [
    number,
    number,
  ];
  return [
    {
      what: `${KEYS} keys: deliveries a second / without a key`,
      figure: `${ordered.toFixed(0)} / ${plain.toFixed(0)}`,
      target: `≥ ${MIN_PER_SECOND}`,
      met: ordered >= MIN_PER_SECOND,
    },
    {
      what: "server CPU of each delivery with a key / without",
      figure: `${dear.toFixed(0)} / ${cheap.toFixed(0)} µs`,
    },
  ];
}
