/** @needs mongodb: a slow record with few connections, which one tenant floods. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, type TestAgent } from "../support/agents.ts";
import { startMongo } from "../support/mongo.ts";
import { startProxy, type TcpProxy } from "../support/proxy.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, type World } from "../support/tenancy.ts";

const CONNECTIONS = 16;
const ANSWER_MS = 100;
const FLOOD = 150;
const REQUESTS = 10;
/**
 * Answers to the flood for one of the other tenant: a few while each of its commands takes as long as any, and as many as
 * the flood has requests if each must wait behind all of them.
 */
const FEW = 30;

const mongo = await startMongo();
// A replica set that was given would be found behind the proxy, at its own address.
const here = "url" in mongo && mongo.kind !== "MONGO_URL";

(here ? describe : describe.skip)("a record that one tenant floods", () => {
  let proxy: TcpProxy;
  let server: TestServer;
  let agent: TestAgent;
  let other: World;
  /** Leased deliveries. */
  const ids: string[] = [];
  let flooding = true;
  let flooded = 0;
  let flood: Promise<unknown>;

  beforeAll(async () => {
    const url = new URL("url" in mongo ? mongo.url : "");
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    url.searchParams.set("maxPoolSize", String(CONNECTIONS));
    const SECRET_KEY = randomBytes(32).toString("base64");
    const settings = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", OPERATOR_TOKEN };
    server = await startServer({ env: { MONGO_URL: url.href, SECRET_KEY, ...settings } });
    agent = await firstAgent(server);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.example.thing" }));
    other = await makeWorld(server, "flood");
    for (let n = 0; n < REQUESTS; n++) ok(await agent.post("/events", cloudEvent(`before ${n}`)));
    await settle(async () => {
      const { deliveries } = ok(await agent.get("/delivery/poll"));
      ids.push(...deliveries.map(({ id }: { id: string }) => id));
      return ids.length === REQUESTS;
    });
    proxy.delayAnswers(ANSWER_MS);
    const lane = async () => {
      while (flooding) {
        await other.admin.get("/agents");
        flooded++;
      }
    };
    flood = Promise.all(Array.from({ length: FLOOD }, lane));
  });
  afterAll(async () => {
    flooding = false;
    proxy?.delayAnswers(0);
    await flood;
    await server?.stop();
    await proxy?.stop();
    if ("url" in mongo) await mongo.stop();
  });

  /** Makes requests one after the other; returns their statuses, and how many the flood got answered for each. */
  async function among(request: (n: number) => Promise<{ status: number }>) {
    const before = flooded;
    const statuses = new Set<number>();
    for (let n = 0; n < REQUESTS; n++) statuses.add((await request(n)).status);
    return { statuses: [...statuses], each: (flooded - before) / REQUESTS };
  }

  test("leaves acknowledgements and renewals their connections", async () => {
    const extended = await among((n) =>
      agent.post("/delivery/extend", { delivery_ids: [ids[n]], seconds: 60 }),
    );
    expect(extended.statuses).toEqual([200]);
    expect(extended.each).toBeLessThan(FEW);
    const acknowledged = await among((n) => agent.post("/delivery/ack", { delivery_ids: [ids[n]] }));
    expect(acknowledged.statuses).toEqual([200]);
    expect(acknowledged.each).toBeLessThan(FEW);
  });

  test("leaves the other tenant its share", async () => {
    const read = await among(() => agent.get(`/agents/${agent.id}`));
    expect(read.statuses).toEqual([200]);
    expect(read.each).toBeLessThan(FEW);
    const published = await among((n) => agent.post("/events", cloudEvent(`during ${n}`)));
    expect(published.statuses).toEqual([202]);
    expect(published.each).toBeLessThan(FEW);
  });
});
