/** @needs mongodb, nats: what a gateway and a worker cost while receivers wait, counted on the way to MongoDB and in NATS. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type CountedWay, countedWay } from "../../bench/lib/wire.ts";
import { newAgent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { onNodes } from "../support/on-nodes.ts";
import { settle } from "../support/settle.ts";
import { openStream } from "../support/stream.ts";

/** Receivers that wait by poll, and as many by stream: first few, then many more. */
const FEW = 5;
const MORE = 25;
/** The checks of callers within which everything else is counted: two seconds each. */
const CHECKS = 4;

let way: CountedWay;
const throughWay = async (mongoUrl: string) => {
  const url = new URL(mongoUrl);
  way = await countedWay(Number(url.port));
  url.port = String(way.port);
  return url.href;
};
// A replica set that was given would be found behind the proxy, at its own address.
const conditions = { workers: 1, isHere: !process.env.MONGO_URL, through: throughWay };

await onNodes("receivers that wait", conditions, { EMBEDDER: "none" }, ({ nodes, admin }) => {
  const tokens: string[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 2 * (FEW + MORE); n++) tokens.push((await newAgent(nodes.gateway, admin)).token);
  });
  afterAll(() => way?.stop());

  const checks = () => way.counts().get("find ended_tokens") ?? 0;
  const checked = async (times: number) => {
    const before = checks();
    await settle(() => checks() >= before + times);
  };

  async function waiting(from: string[], all: number) {
    const { gateway } = nodes;
    const half = from.length / 2;
    const polls = from.slice(0, half).map((token) => api(gateway, token).get("/delivery/poll?wait=30"));
    const streams = await Promise.all(
      from.slice(half).map((token) => openStream(`${gateway.url}/delivery/stream`, token)),
    );
    // A stream that nobody reads is closed once its response is forgotten.
    const reading = streams.map(async ({ chunks }) => {
      for await (const _ of chunks);
    });
    const inFlight = async () => Number(/in_flight (\d+)\n/.exec(await gateway.metrics())?.[1] ?? Number.NaN);
    await settle(
      async () => (await inFlight()) >= all || Promise.reject(new Error(`${await inFlight()} in flight`)),
    );
    // By then all of them are checked together.
    await checked(2);
    return { polls, streams, reading };
  }

  async function counted() {
    const statements = () => [...way.counts().values()].reduce((sum, count) => sum + count, 0);
    const before = { statements: statements(), messages: (await nodes.nats.counts()).messages };
    await checked(CHECKS);
    return {
      statements: statements() - before.statements,
      messages: (await nodes.nats.counts()).messages - before.messages,
    };
  }

  test("cost the same however many they are", async () => {
    const few = await waiting(tokens.slice(0, 2 * FEW), 2 * FEW);
    const ofFew = await counted();
    const more = await waiting(tokens.slice(2 * FEW), 2 * (FEW + MORE));
    const ofAll = await counted();
    // Sweeps and heartbeats vary a little; a single statement or message for each would be 50.
    expect(ofAll.statements - ofFew.statements).toBeLessThan(MORE);
    expect(ofAll.messages - ofFew.messages).toBeLessThan(MORE);
    for (const stream of [...few.streams, ...more.streams]) stream.close();
    await Promise.all([...few.reading, ...more.reading]);
    for (const answer of await Promise.all([...few.polls, ...more.polls]))
      expect(answer.body).toEqual({ deliveries: [], count: 0 });
  });
});
