/** @needs mongodb: two nodes on one record, without NATS: changes on one apply on the other. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { cloudEvent, newAgent } from "../support/agents.ts";
import { START } from "../support/alone.ts";
import { startChild } from "../support/child.ts";
import { agentToken, api } from "../support/http.ts";
import { ownFolder } from "../support/own-folder.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { openStream } from "../support/stream.ts";
import { makeWorld, OPERATOR_TOKEN, ok, signIn, type World } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";

const mongo = await useMongo();
const here = "url" in mongo;

(here ? describe : describe.skip)("two nodes on one record", () => {
  let one: TestServer;
  let other: TestServer;
  let world: World;

  beforeAll(async () => {
    const env = {
      MONGO_URL: here ? mongo.url : "",
      ...{ SECRET_KEY: randomBytes(32).toString("base64"), OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0" },
    };
    one = await startServer({ env });
    other = await startServer({ env, beside: one });
    world = await makeWorld(one, "acme");
  });
  afterAll(async () => {
    await other?.stop();
    await one?.stop();
  });

  const statusAtOther = async (token: string) => (await api(other, token).get("/auth/me")).status;
  /** The request that asks is one of them. */
  const requestsInFlight = async (server: TestServer) =>
    Number(/^sensorium_http_requests_in_flight (\d+)$/m.exec(await server.metrics())?.[1]);
  test("the second node creates no tenant and accepts the first one's key", async () => {
    expect(other.logs()).not.toContain("First start");
    expect(await agentToken(other, one.credentials.agent.api_key)).toBeTruthy();
  });

  /** Callers with access, and how each loses it. There is no NATS: no event tells the other node. */
  const losses = Object.entries<() => Promise<{ token: string; end: () => Promise<unknown> }>>({
    "a revoked key": async () => {
      const agent = await newAgent(one, world.admin);
      const { keys } = ok(await world.admin.get(`/agents/${agent.id}/keys`));
      return { ...agent, end: () => world.admin.del(`/agents/${agent.id}/keys/${keys[0].id}`) };
    },
    "an inactive agent": async () => {
      const agent = await newAgent(one, world.admin);
      return { ...agent, end: () => world.admin.patch(`/agents/${agent.id}/status`, { status: "inactive" }) };
    },
    "a token that was logged out": async () => {
      const agent = await newAgent(one, world.admin);
      return { ...agent, end: () => agent.post("/auth/logout") };
    },
    "a suspended tenant": async () => {
      const { tenant_id, admin } = await makeWorld(one, "initech");
      const operator = api(one, OPERATOR_TOKEN);
      const suspended = { status: "suspended" };
      return {
        ...(await newAgent(one, admin)),
        end: () => operator.patch(`/tenants/${tenant_id}`, suspended),
      };
    },
  });

  test.each(losses)(
    "%s is refused at the other, and ends a poll and a stream that wait there",
    async (_, prepare) => {
      const { token, end } = await prepare();
      const stream = await openStream(`${other.url}/delivery/stream`, token);
      const streamed = (async () => {
        for await (const _chunk of stream.chunks);
      })();
      const polled = api(other, token).get("/delivery/poll?wait=30");
      // So that it waits before its caller loses access.
      await settle(async () => (await requestsInFlight(other)) >= 3);
      await end();
      expect(await polled).toMatchObject({ status: 401, body: { error: { code: "authentication_failed" } } });
      await streamed;
      await settle(async () => (await statusAtOther(token)) === 401);
    },
  );

  test("a disabled person is refused at the other, although the token is in use there", async () => {
    const user = ok(await world.admin.post("/users", { email: "gone@acme.example" }));
    const token = await signIn(one, user, "acme");
    expect(await statusAtOther(token)).toBe(200);
    ok(await world.admin.patch(`/users/${user.id}`, { status: "disabled" }));
    await settle(async () => (await statusAtOther(token)) === 401);
  });

  test("a poll that waits at the other gets an event of one without a message about it", async () => {
    const agent = await newAgent(one, world.admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.untold" }));
    const polled = api(other, agent.token).get("/delivery/poll?wait=30");
    await settle(async () => (await requestsInFlight(other)) >= 2);
    ok(await agent.post("/events", cloudEvent("untold", { type: "com.untold" })));
    expect((await polled).body.deliveries).toMatchObject([{ payload: { id: "untold" } }]);
  });

  test("a node with another key says so and does not start", async () => {
    const { PATH = "" } = process.env;
    const [DATA_DIR, SECRET_KEY] = [await ownFolder(), randomBytes(32).toString("base64")];
    const env = { PATH, PORT: "0", DATA_DIR, MONGO_URL: here ? mongo.url : "", SECRET_KEY };
    const node = await startChild(process.execPath, START, { env });
    expect(await node.exited).toMatchObject({ code: 1 });
    expect(node.output()).toMatch(/^.*SECRET_KEY.*\n$/);
  });

  // The last: it ends them.
  test("a node ends when there are rows of a format that it does not know", async () => {
    const newer = new MongoClient(here ? mongo.url : "");
    const row = { tenant_id: "installation", format: 1000 };
    const installation = newer.db().collection("installation");
    await installation.replaceOne({ _id: "format" as never }, row, { upsert: true });
    await newer.close();
    // It looks twice a minute, and whenever the modes change.
    await api(one, OPERATOR_TOKEN).patch("/installation", { log_level: "info" });
    await settle(() => /"fatal".*rows of format 1000, and this version/.test(one.logs()));
    await settle(() =>
      fetch(one.root).then(
        () => false,
        () => true,
      ),
    );
  });
});
