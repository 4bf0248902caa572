/** @needs mongodb, nats: the services spread over two nodes, which meet over NATS and share one record. */
import { expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { START } from "../support/alone.ts";
import { type Child, startChild } from "../support/child.ts";
import { api } from "../support/http.ts";
import { startNats } from "../support/nats.ts";
import { onNodes } from "../support/on-nodes.ts";
import { ownFolder } from "../support/own-folder.ts";
import { settle } from "../support/settle.ts";

// More than any disk has.
const settings = { MIN_FREE_DISK_MB: "1000000000" };

await onNodes("a gateway and a worker over NATS", 1, settings, ({ nodes, admin: agent }) => {
  const worker = () => nodes.workers[0] as Child;
  const interest = (event_type: string) => agent.post(`/agents/${agent.id}/interests`, { event_type });

  test("a disk with too little space is shown on every node, and refuses nothing that MongoDB keeps", async () => {
    const [, root] = await worker().find(/(http:\/\/127\.0\.0\.1:\d+)\/readyz/);
    for (const origin of [nodes.gateway.root, root]) {
      // A worker that makes its folder as it starts looks again some seconds later.
      const { status, body } = await settle(async () => {
        const answer = await api(nodes.gateway).get(`${origin}/readyz`);
        return answer.body.checks.disk !== "ok" && answer;
      });
      expect([status, body.checks.disk]).toEqual([
        200,
        expect.stringMatching(/^\d+ MB free; the minimum is/),
      ]);
      expect(await (await fetch(`${origin}/metrics`)).text()).toMatch(/^sensorium_disk_free_bytes \d/m);
    }
    expect((await interest("com.stored")).status).toBe(201);
  });

  test("an event of the largest size fits through", async () => {
    expect((await interest("com.large")).status).toBe(201);
    const event = { specversion: "1.0", id: "large", type: "com.large", source: "/test", data: "" };
    event.data = "x".repeat(1_048_576 - JSON.stringify(event).length);
    expect((await agent.post("/events", event)).status).toBe(202);
    const { deliveries } = (await agent.get("/delivery/poll?wait=30")).body;
    expect(deliveries[0].payload.data).toHaveLength(event.data.length);
  });

  test("a batch of the largest size fits through, and its events come in answers that stop at 4 MB", async () => {
    expect((await interest("com.batch")).status).toBe(201);
    const events = Array.from({ length: 12 }, (_, i) => {
      const event = { specversion: "1.0", id: `batch-${i}`, type: "com.batch", source: "/test", data: "" };
      return { ...event, data: "y".repeat(1_048_000 - JSON.stringify(event).length) };
    });
    const headers = { "content-type": "application/cloudevents-batch+json" };
    for (const batch of [events.slice(0, 4), events.slice(4, 8), events.slice(8)]) {
      const published = await agent.post("/events", batch, headers);
      expect(published.body).toMatchObject(batch.map(() => ({ status: "accepted" })));
    }
    const ids = new Set<string>();
    while (ids.size < events.length) {
      const { deliveries } = (await agent.get("/delivery/poll?wait=20")).body;
      expect(deliveries.length).toBeGreaterThan(0);
      expect(deliveries.length).toBeLessThan(6);
      for (const { payload } of deliveries) ids.add(payload.id);
      const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
      expect((await agent.post("/delivery/ack", { delivery_ids })).status).toBe(200);
    }
  });

  test("500 memories of 4 MB are kept and answered in their order", async () => {
    const memories = Array.from({ length: 500 }, (_, n) => ({
      ...{ title: `Memory ${n}`, content: "z".repeat(8_000), type: "semantic", scope: "institutional" },
      ...(n === 250 && { type: "none" }),
    }));
    const { status, body } = await agent.post("/memories/batch", { memories });
    expect(status).toBe(201);
    const kept = body.results.map((each: { memory?: { title: string } }) => each.memory?.title);
    expect(kept).toEqual(memories.map(({ title }, n) => (n === 250 ? undefined : title)));
    expect(body.results[250]).toMatchObject({ status: 400, error: { details: { field: "type" } } });
  });

  test("a run in which as much was noted as may be can be read, whatever comes", async () => {
    const { id } = (await agent.post("/runs", { goal: "Note it all", steps: [{ step_key: "a" }] })).body;
    const note = { step_key: "a", notes: "ä".repeat(32_768) };
    const statuses: number[] = [];
    while (statuses.length < 300 && !statuses.includes(422)) {
      const begun = Array.from({ length: 10 }, () => agent.post(`/runs/${id}/steps/start`, note));
      statuses.push(...(await Promise.all(begun)).map(({ status }) => status));
    }
    const { status, body } = await agent.get(`/runs/${id}`);
    expect(status).toBe(200);
    expect(body.steps[0].attempts).toHaveLength(63);
    expect(statuses.filter((each) => each === 201)).toHaveLength(63);
  });

  test("what a node of an earlier version would break is refused by name while there is one", async () => {
    const formats = () => {
      const interest = { event_type: "com.ordered", ordering_key: "subject" };
      const wait_for = { event_type: "com.paid", filter_expression: "data.id == run.values.id" };
      return Promise.all([
        agent.post(`/agents/${agent.id}/interests`, interest),
        agent.post("/runs", { goal: "Pay", steps: [{ step_key: "pay", wait_for }], values: { id: 1 } }),
        agent.post("/approvals", { title: "Pay", question: "Pay?" }),
        agent.post("/memories/batch", { memories: [{ content: "x", valid_from: "2026-01-01" }] }),
      ]);
    };
    const older = new ServiceBroker({
      ...{ namespace: "sensorium", nodeID: "older", logger: false },
      transporter: { type: "NATS", options: { url: nodes.nats.url } },
    });
    await older.start();
    const refused = await settle(async () => {
      const answers = await formats();
      return answers.every(({ status }) => status === 503) && answers;
    });
    const names = ["ordering_key", "values", "POST /approvals", "memories.valid_from"];
    for (const [i, { body, headers }] of refused.entries()) {
      expect(body.error.message).toMatch(new RegExp(`^${names[i]} cannot be used yet: .*\\(older\\)`));
      expect(headers.get("retry-after")).toBe("60");
    }
    expect((await interest("com.plain")).status).toBe(201);
    await older.stop();
    await settle(async () => (await formats()).every(({ status }) => status !== 503));
  });

  test("a gateway is not ready while requests are not answered, and is again", async () => {
    const readiness = async () => (await api(nodes.gateway).get(`${nodes.gateway.root}/readyz`)).body;
    await worker().pause();
    await settle(async () => (await readiness()).checks.requests === "callers cannot be verified");
    worker().resume();
    await settle(async () => (await readiness()).status === "ready");
  });

  test("a worker says whether it is ready, and what it counts", async () => {
    const [, root = ""] = await worker().find(/(http:\/\/127\.0\.0\.1:\d+)\/readyz/);
    const there = { url: root };
    expect(await api(there).get("/readyz")).toMatchObject({
      status: 200,
      body: { status: "ready", checks: { store: "ok", services: "ok", fan_out: "ok" } },
    });
    expect(await api(there).get("/healthz?now")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect((await api(there).get("/metrics")).body).toMatch(/^sensorium_events_accepted_total [1-9]/m);
    const proxied = await api(there).get("/metrics", { "x-forwarded-for": "203.0.113.9" });
    for (const { status, body } of [proxied, await api(there).get("/v1/agents")])
      expect({ status, body }).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  });
});

test("a node on NATS that keeps its record to itself says so", async () => {
  const nats = await startNats();
  const { PATH = "" } = process.env;
  const env = { PATH, DATA_DIR: await ownFolder(), PORT: "0", NATS_URL: nats.url };
  const node = await startChild(process.execPath, START, { env });
  await node.find(/NATS_URL without MONGO_URL: /);
  await node.find(/Sensorium is ready/);
  expect(await node.end("SIGTERM")).toMatchObject({ code: 0 });
  await nats.stop();
});

test("a server that takes too small messages is refused in one clear line", async () => {
  const small = await startNats("1MB");
  const { PATH = "" } = process.env;
  const env = { PATH, DATA_DIR: await ownFolder(), PORT: "0", NATS_URL: small.url };
  const node = await startChild(process.execPath, START, { env });
  expect(await node.exited).toMatchObject({ code: 1 });
  expect(node.output()).toMatch(/^The server of NATS_URL accepts messages of at most 1048576 bytes.*\n$/);
  await small.stop();
});
