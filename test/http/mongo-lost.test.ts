/** @needs mongodb: the connection to MongoDB is cut and restored, or slow, with few connections, which one tenant floods. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, receive, type TestAgent } from "../support/agents.ts";
import { startProxy, type TcpProxy } from "../support/proxy.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";

interface Proxied {
  proxy: TcpProxy;
  server: TestServer;
  agent: TestAgent;
}

/** Tests on a server with these settings whose way to MongoDB is a proxy. @param pool the most connections to it */
async function onProxy(
  what: string,
  settings: Record<string, string>,
  define: (on: Proxied) => void,
  pool?: number,
): Promise<void> {
  const mongo = await useMongo();
  // A replica set that was given would be found behind the proxy, at its own address.
  const here = "url" in mongo && mongo.kind !== "MONGO_URL";
  (here ? describe : describe.skip)(what, () => {
    const on = {} as Proxied;
    beforeAll(async () => {
      const url = new URL("url" in mongo ? mongo.url : "");
      on.proxy = await startProxy(Number(url.port));
      url.port = String(on.proxy.port);
      if (pool) url.searchParams.set("maxPoolSize", String(pool));
      const SECRET_KEY = randomBytes(32).toString("base64");
      const env = { MONGO_URL: url.href, SECRET_KEY, RATE_LIMIT_PER_MINUTE: "0", ...settings };
      on.server = await startServer({ env });
      on.agent = await firstAgent(on.server);
      ok(await on.agent.post(`/agents/${on.agent.id}/interests`, { event_type: "com.example.thing" }));
    });
    define(on);
    afterAll(async () => {
      on.proxy?.mend();
      await on.server?.stop();
      await on.proxy?.stop();
    });
  });
}

await onProxy("MongoDB out of reach", {}, (on) => {
  test("requests get 503 while MongoDB is away, and nothing is accepted unstored", async () => {
    const accepted: string[] = [];
    const publish = async (id: string) => {
      const answer = await on.agent.post("/events", cloudEvent(id));
      // 200: it was taken by a try whose answer was 503.
      if (answer.status < 300) accepted.push(id);
      return answer;
    };
    ok(await publish("before"));
    on.proxy.cut();
    for (const answer of await Promise.all(["one", "two", "three"].map(publish))) {
      expect(answer).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    for (const path of ["/delivery/poll", `/agents/${on.agent.id}`])
      expect((await on.agent.get(path)).status).toBe(503);
    const unready = await on.agent.get(`${on.server.root}/readyz`);
    expect(unready).toMatchObject({ status: 503, body: { status: "not_ready" } });
    expect((await on.agent.get(`${on.server.root}/healthz`)).status).toBe(200);
    on.proxy.mend();
    await settle(async () => (await publish("after")).status < 300);
    await settle(async () => (await on.agent.get(`${on.server.root}/readyz`)).status === 200);
    const payloads = (await receive(on.agent, accepted.length)).map(({ payload }) => payload.id);
    expect(payloads).toEqual(expect.arrayContaining(accepted));
    for (const id of ["one", "two", "three"]) expect(payloads).not.toContain(id);
  });

  test("requests to a mute server get 503, and a repeated publish is stored once", async () => {
    const publish = () => on.agent.post("/events", cloudEvent("mute"));
    on.proxy.mute();
    expect(await publish()).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
    on.proxy.mend();
    await settle(async () => [200, 202].includes((await publish()).status));
    expect((await receive(on.agent, 1)).map(({ payload }) => payload.id)).toEqual(["mute"]);
    expect((await publish()).status).toBe(200);
  });
});

const CONNECTIONS = 16;
const ANSWER_MS = 100;
const FLOOD = 150;
const REQUESTS = 10;
/**
 * Answers to the flood for one of the other tenant: a few while each of its commands takes as long as any, and as many as
 * the flood has requests if each must wait behind all of them.
 */
const FEW = 30;

const FLOODED = { EMBEDDER: "none", OPERATOR_TOKEN };
await onProxy(
  "a record that one tenant floods",
  FLOODED,
  (on) => {
    /** Leased deliveries. */
    const ids: string[] = [];
    let flooding = true;
    let flooded = 0;
    let flood: Promise<unknown>;

    beforeAll(async () => {
      const other = await makeWorld(on.server, "flood");
      for (let n = 0; n < REQUESTS; n++) ok(await on.agent.post("/events", cloudEvent(`before ${n}`)));
      await settle(async () => {
        const { deliveries } = ok(await on.agent.get("/delivery/poll"));
        ids.push(...deliveries.map(({ id }: { id: string }) => id));
        return ids.length === REQUESTS;
      });
      on.proxy.delayAnswers(ANSWER_MS);
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
      on.proxy?.delayAnswers(0);
      await flood;
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
        on.agent.post("/delivery/extend", { delivery_ids: [ids[n]], seconds: 60 }),
      );
      expect(extended.statuses).toEqual([200]);
      expect(extended.each).toBeLessThan(FEW);
      const acknowledged = await among((n) => on.agent.post("/delivery/ack", { delivery_ids: [ids[n]] }));
      expect(acknowledged.statuses).toEqual([200]);
      expect(acknowledged.each).toBeLessThan(FEW);
    });

    test("leaves the other tenant its share", async () => {
      const read = await among(() => on.agent.get(`/agents/${on.agent.id}`));
      expect(read.statuses).toEqual([200]);
      expect(read.each).toBeLessThan(FEW);
      const published = await among((n) => on.agent.post("/events", cloudEvent(`during ${n}`)));
      expect(published.statuses).toEqual([202]);
      expect(published.each).toBeLessThan(FEW);
    });
  },
  CONNECTIONS,
);
