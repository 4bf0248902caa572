import { settle } from "../test/support/settle.ts";
import { cpuSeconds } from "./lib/load.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { inTurns, median } from "./lib/stats.ts";
import { newTypedReceiver, type TypedReceiver, type Way } from "./lib/ways.ts";
import { inParallel, newWorld, sampleEvent, type World } from "./lib/world.ts";

const ROUNDS = 5;
const EVENTS = 3_000;
const LANES = 32;
const DELAY_MS = 2_000;
/** A feature that an event does not use may cost it no more. */
const MOST = 1.03;

/** Features of an event or of its receiver. */
interface Feature {
  name: string;
  way?: Way;
  /** Fields of the receiver's interest; null: it gets a channel's feed instead. */
  interest?: object | null;
  /** Attributes of the event. */
  event?: (n: number) => object;
  headers?: (n: number) => Record<string, string>;
}

const TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

const PLAIN: Feature = { name: "an event alone" };
const FEATURES: Feature[] = [
  PLAIN,
  { name: "a filter", interest: { filter_expression: "data.amount > 100.0" } },
  { name: "a filter that is looked up", interest: { filter_expression: "data.currency == 'EUR'" } },
  { name: "an order key", interest: { ordering_key: "subject" } },
  { name: "a channel", interest: null },
  { name: "an idempotency key", headers: (n) => ({ "idempotency-key": `price-${n}-${Math.random()}` }) },
  { name: "a trace", headers: () => ({ traceparent: TRACE }) },
  { name: "a delay", event: () => ({ notbefore: new Date(Date.now() + DELAY_MS).toISOString() }) },
  { name: "a log", way: "poll + log" },
  { name: "a push", way: "push" },
];

/** The price of each feature on an event's way, next to the event that does not use it. */
export const pricePart: Part = {
  name: "price",
  title: "Price list of an event",
  note: `Server CPU of an event from publish to acknowledgement, ${EVENTS} a round by ${LANES} publishers of single events, one receiver;
medians of ${ROUNDS} interleaved rounds. "Times" is the median of the rounds' ratios to the event alone. The last row
is the event alone again, while the receivers of all other rows exist.`,
  async run() {
    const world = await newWorld({ PUSH_ALLOW_PRIVATE: "true" });
    try {
      const alone = await pricedBy(world, PLAIN, "com.price.before");
      const before = await inTurns(ROUNDS, [alone]);
      const priced: (() => Promise<number>)[] = [];
      for (const [i, feature] of FEATURES.entries())
        priced.push(await pricedBy(world, feature, `com.price.f${i}`));
      const measured = await inTurns(ROUNDS, [...priced, alone]);
      return rowsOf(measured, median(before[0] as number[]));
    } finally {
      await world.stop();
    }
  },
};

/** Returns what measures a round of a feature, in microseconds an event. */
async function pricedBy(world: World, feature: Feature, type: string): Promise<() => Promise<number>> {
  const { name, way = "next", interest = {} } = feature;
  const receiver = await newTypedReceiver(world, type, way, interest);
  let round = 0;
  return async () => {
    const micros = await measure(world, feature, receiver, ++round);
    progress(`${name}: ${micros.toFixed(0)} µs`);
    return micros;
  };
}

async function measure(
  { server, client }: World,
  { event, headers }: Feature,
  { type, receive }: TypedReceiver,
  round: number,
): Promise<number> {
  const over = new AbortController();
  let received = 0;
  const receiving = receive(() => received++, over.signal);
  const before = cpuSeconds(server.pid());
  await inParallel(EVENTS, LANES, async (n) => {
    const body = { ...sampleEvent(`${type}-${round}-${n}`, type), ...event?.(n) };
    await client.send("POST", "/events", body, undefined, headers?.(n));
  });
  await settle(() => received >= EVENTS, { within: 120_000, what: `every event of ${type}` });
  over.abort();
  await receiving;
  return ((cpuSeconds(server.pid()) - before) / EVENTS) * 1e6;
}

function rowsOf(measured: number[][], before: number): Row[] {
  const [plain, ...others] = measured as [number[], ...number[][]];
  const ratio = (each: number[]) => median(each.map((micros, i) => micros / (plain[i] as number)));
  const again = others.pop() as number[];
  const figure = (each: number[]) => `${median(each).toFixed(0)} µs (${ratio(each).toFixed(2)} times)`;
  return [
    { what: `${PLAIN.name}, before there is another receiver`, figure: `${before.toFixed(0)} µs` },
    { what: PLAIN.name, figure: `${median(plain).toFixed(0)} µs` },
    ...others.map((each, i) => ({ what: `with ${(FEATURES[i + 1] as Feature).name}`, figure: figure(each) })),
    {
      what: `${PLAIN.name}, next to receivers that use the others`,
      figure: figure(again),
      target: `≤ ${MOST} times`,
      met: ratio(again) <= MOST,
    },
  ];
}
