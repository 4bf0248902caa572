/** @needs mongodb: the connection to MongoDB is cut and restored. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, receive, type TestAgent } from "../support/agents.ts";
import { startMongo } from "../support/mongo.ts";
import { startProxy, type TcpProxy } from "../support/proxy.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const mongo = await startMongo();
// A replica set that was given would be found behind the proxy, at its own address.
const here = "url" in mongo && mongo.kind !== "MONGO_URL";

(here ? describe : describe.skip)("MongoDB out of reach", () => {
  let proxy: TcpProxy;
  let server: TestServer;
  let agent: TestAgent;

  beforeAll(async () => {
    const url = new URL("url" in mongo ? mongo.url : "");
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    const SECRET_KEY = randomBytes(32).toString("base64");
    server = await startServer({ env: { MONGO_URL: url.href, SECRET_KEY, RATE_LIMIT_PER_MINUTE: "0" } });
    agent = await firstAgent(server);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.example.thing" }));
  });
  afterAll(async () => {
    proxy?.mend();
    await server?.stop();
    await proxy?.stop();
    if ("url" in mongo) await mongo.stop();
  });

  test("requests get 503 while MongoDB is away, and nothing is accepted unstored", async () => {
    const accepted: string[] = [];
    const publish = async (id: string) => {
      const answer = await agent.post("/events", cloudEvent(id));
      // 200: it was taken by a try whose answer was 503.
      if (answer.status < 300) accepted.push(id);
      return answer;
    };
    ok(await publish("before"));
    proxy.cut();
    for (const answer of await Promise.all(["one", "two", "three"].map(publish))) {
      expect(answer).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    for (const path of ["/delivery/poll", `/agents/${agent.id}`])
      expect((await agent.get(path)).status).toBe(503);
    const unready = await agent.get(`${server.root}/readyz`);
    expect(unready).toMatchObject({ status: 503, body: { status: "not_ready" } });
    expect((await agent.get(`${server.root}/healthz`)).status).toBe(200);
    proxy.mend();
    await settle(async () => (await publish("after")).status < 300);
    await settle(async () => (await agent.get(`${server.root}/readyz`)).status === 200);
    const payloads = (await receive(agent, accepted.length)).map(({ payload }) => payload.id);
    expect(payloads).toEqual(expect.arrayContaining(accepted));
    for (const id of ["one", "two", "three"]) expect(payloads).not.toContain(id);
  });

  test("requests to a mute server get 503, and a repeated publish is stored once", async () => {
    const publish = () => agent.post("/events", cloudEvent("mute"));
    proxy.mute();
    expect(await publish()).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
    proxy.mend();
    await settle(async () => [200, 202].includes((await publish()).status));
    expect((await receive(agent, 1)).map(({ payload }) => payload.id)).toEqual(["mute"]);
    expect((await publish()).status).toBe(200);
  });
});
