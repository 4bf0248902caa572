/** @needs mongodb, nats, history: a node of the version before this one and one of this version serve together. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import { versionsBefore } from "../support/needs.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";
import { useMongo } from "../support/use.ts";
import { checkOutFormer, type FormerVersion } from "../support/versions.ts";

const AGENTS = 8;
const MEMORY = { content: "It sings at dusk.", type: "semantic", scope: "institutional" };
const mongo = await useMongo();
const versions = await versionsBefore();

("url" in mongo && versions.length ? describe : describe.skip)("a rolling upgrade", () => {
  let former: FormerVersion;
  let nats: NatsServer;
  let env: Record<string, string>;
  let before: TestServer;
  let after: TestServer | undefined;
  let admin: TestAgent;

  beforeAll(async () => {
    nats = await startNats();
    env = {
      MONGO_URL: "url" in mongo ? mongo.url : "",
      ...{ NATS_URL: nats.url, SECRET_KEY: randomBytes(32).toString("base64"), RATE_LIMIT_PER_MINUTE: "0" },
    };
    former = await checkOutFormer();
    before = await startAlone({ env, root: former.folder });
    admin = await firstAgent(before);
  });
  afterAll(async () => {
    await after?.stop();
    await before?.stop();
    await nats?.stop();
    await former?.remove();
  });

  /** This version's, on the same record. */
  const startNext = (more: Record<string, string> = {}) =>
    startAlone({ env: { ...env, ...more }, beside: before });

  const at = (server: TestServer, agent: TestAgent): TestAgent => ({ ...agent, ...api(server, agent.token) });

  test("what one version accepts the other delivers, forward and back, and each goes on alone", async () => {
    const agents = await Promise.all(
      Array.from({ length: AGENTS }, async () => {
        const agent = await newAgent(before, admin);
        ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.rolling.*" }));
        return agent;
      }),
    );
    const now = await startNext();
    after = now;

    const round = async (name: string, by: TestServer[], from: TestServer[]) => {
      for (const [i, server] of by.entries())
        ok(await at(server, admin).post("/events", cloudEvent(`${name} ${i}`, { type: "com.rolling.x" })));
      const received = agents.map((agent, i) =>
        receive(at(from[i % from.length] as TestServer, agent), by.length),
      );
      for (const deliveries of await Promise.all(received)) {
        const ids = deliveries.map(({ payload }) => payload.id);
        expect(ids.sort()).toEqual(by.map((_, i) => `${name} ${i}`));
      }
    };
    await round("from the old", [before, before, before], [now]);
    await round("from the new", [now, now, now], [before]);
    const later = await newAgent(now, at(now, admin));
    ok(await later.post(`/agents/${later.id}/interests`, { event_type: "com.rolling.*" }));
    agents.push(later);
    await round("from both", [before, now, before, now], [before, now]);

    const alone = async (server: TestServer, id: string) => {
      const publish = () => at(server, admin).post("/events", cloudEvent(id, { type: "com.rolling.x" }));
      // 200: it was taken by a try whose answer did not come.
      await settle(async () => [200, 202].includes((await publish()).status));
      for (const agent of agents) expect(await receive(at(server, agent), 1)).toHaveLength(1);
    };
    await before.end();
    await alone(now, "forward");

    await before.restart();
    await settle(async () => (await at(before, admin).get("/auth/me")).status === 200);
    await round("rolling back", [now, before], [before, now]);
    await now.end();
    await alone(before, "back");
  });

  test("order, waits, approvals, replays and erasure hold between versions, or are refused by name", async () => {
    await before.restart();
    await using now = await startNext();
    const person = await signIn(now, before.credentials.admin, before.credentials.tenant_slug);
    const ordered = { event_type: "com.ordered", ordering_key: "data.order" };
    const wait = { event_type: "com.paid", filter_expression: "data.id == run.values.id" };
    const steps = [{ step_key: "pay", wait_for: wait }];
    const ask = { title: "Pay", question: "Pay?" };
    const nodes = [before, now] as const;
    const replay = { from: "2020-01-01T00:00:00.000Z", per_minute: 30_000 };
    const receiver = await newAgent(now, admin);
    const place = `/agents/${receiver.id}`;
    const { status, body } = await at(now, receiver).post(`${place}/interests`, ordered);
    if (status === 503) {
      expect(body.error.message).toMatch(/^ordering_key cannot be used yet/);
      const others = await Promise.all([
        at(now, admin).post("/runs", { goal: "Pay", steps, values: { id: 1 } }),
        at(now, admin).post("/approvals", ask),
        at(now, admin).post(`${place}/replays`, replay),
      ]);
      expect(others.map((each) => each.status)).toEqual([503, 503, 503]);
    } else {
      expect(status).toBe(201);
      await bothWays(nodes, receiver, person);
    }
    for (const [made, erased] of [nodes, nodes.toReversed()] as [TestServer, TestServer][]) {
      const { id } = ok(await at(made, admin).post("/memories", { ...MEMORY, title: "walrus" }));
      const found = async (server: TestServer) =>
        ok(await at(server, admin).post("/memories/search", { query: "walrus" })).results.length;
      await settle(async () => (await found(erased)) === 1);
      ok(await api(erased, person).post("/memories/erase", { ids: [id] }));
      await settle(async () => (await found(made)) + (await found(erased)) === 0);
    }

    /** Each of them begins on one node and ends on the other. */
    async function bothWays(nodes: readonly [TestServer, TestServer], agent: TestAgent, token: string) {
      const received: { order: number; n: number }[] = [];
      const take = async (server: TestServer) => {
        const { deliveries } = ok(await at(server, agent).get("/delivery/poll?wait=1&limit=3"));
        for (const { payload } of deliveries) received.push(payload.data);
        const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
        if (delivery_ids.length) ok(await at(server, agent).post("/delivery/ack", { delivery_ids }));
      };
      for (let n = 0; n < 20; n++)
        for (const order of [1, 2, 3]) {
          const event = cloudEvent(`ordered ${order} ${n}`, { type: "com.ordered", data: { order, n } });
          ok(await at(nodes[n % 2] as TestServer, admin).post("/events", event));
        }
      await settle(async () => {
        await Promise.all(nodes.map(take));
        return received.length >= 60;
      });
      for (const order of [1, 2, 3]) {
        const numbers = received.filter((each) => each.order === order).map(({ n }) => n);
        expect(numbers).toEqual(Array.from({ length: 20 }, (_, n) => n));
      }
      for (const [first, second] of [nodes, nodes.toReversed()] as [TestServer, TestServer][]) {
        const id = `${first.root} first`;
        const run = ok(await at(first, admin).post("/runs", { goal: "Pay", steps, values: { id } }));
        ok(await at(second, admin).post("/events", cloudEvent(id, { type: "com.paid", data: { id } })));
        await settle(async () => ok(await at(second, admin).get(`/runs/${run.id}`)).status === "completed");
        const approval = ok(await at(first, agent).post("/approvals", ask));
        ok(await api(second, token).post(`/approvals/${approval.id}/answer`, { choice: "approve" }));
        const [told] = await receive(at(first, agent), 1);
        expect(told.payload.subject).toBe(approval.id);
        const again = ok(await at(first, admin).post(`${place}/replays`, { ...replay, again: true }));
        await receive(at(second, agent), 60);
        await settle(
          async () => ok(await at(second, admin).get(`${place}/replays/${again.id}`)).state === "completed",
        );
      }
    }
  });

  test("a node of this version is ready next to one of the version before", async () => {
    await before.restart();
    await using gateway = await startNext({ SERVICES: "gateway" });
    const { status, body } = await api(gateway).get(`${gateway.root}/readyz`);
    expect([status, body.checks.services]).toEqual([200, "ok"]);
    expect((await at(gateway, admin).get("/auth/me")).status).toBe(200);
  });
});
