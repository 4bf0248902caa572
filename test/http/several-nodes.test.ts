/** @needs mongodb, nats: two gateways and two workers: it is the same whichever of them is asked. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { api } from "../support/http.ts";
import { agentIn, remember } from "../support/memories.ts";
import { startMongo } from "../support/mongo.ts";
import { type Nodes, startNodes } from "../support/nodes.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { openStream, type StreamMessage } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

const mongo = await startMongo();

("url" in mongo ? describe : describe.skip)("two gateways and two workers", () => {
  let nodes: Nodes;
  let other: TestServer;
  let admin: TestAgent;
  let search: Child;

  beforeAll(async () => {
    const settings = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
    nodes = await startNodes("url" in mongo ? mongo.url : "", 2, settings);
    other = await nodes.addServer(["gateway"]);
    admin = await firstAgent(nodes.gateway);
  });
  afterAll(async () => {
    await nodes?.stop();
    if ("url" in mongo) await mongo.stop();
  });

  async function subscriber(type: string): Promise<TestAgent> {
    const agent = await newAgent(nodes.gateway, admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: type }));
    return agent;
  }

  test("a stream at one gateway gets what is published at the other, where it is acknowledged", async () => {
    const agent = await subscriber("com.streamed");
    const stream = await openStream(`${other.url}/delivery/stream?max_in_flight=1`, agent.token);
    const next = async () => {
      for (;;) {
        const { value = [], done } = await stream.chunks.next();
        const found = value.find(({ event }: StreamMessage) => event === "delivery");
        if (found || done) return found?.data;
      }
    };
    for (const id of ["one", "two", "three"]) {
      ok(await admin.post("/events", cloudEvent(id, { type: "com.streamed" })));
    }
    const received: string[] = [];
    while (received.length < 3) {
      const delivery = await next();
      received.push(delivery.payload.id);
      // Only then is capacity free for the next.
      ok(await agent.post("/delivery/ack", { delivery_ids: [delivery.id] }));
    }
    // Two workers have published them: in what order they come is up to them.
    expect(received.sort()).toEqual(["one", "three", "two"]);
    stream.close();
  });

  test("a poll that waits at one gateway is woken by an event at the other", async () => {
    const agent = await subscriber("com.awaited");
    const waiting = api(other, agent.token).get("/delivery/poll?wait=20");
    ok(await admin.post("/events", cloudEvent("awaited", { type: "com.awaited" })));
    expect((await waiting).body.deliveries).toMatchObject([{ payload: { id: "awaited" } }]);
  });

  test("every search worker finds new memories and no forgotten ones", async () => {
    const agent = await agentIn(nodes.gateway, admin, {});
    const kept = await remember(agent, { title: "Invoices", content: "ACME pays after thirty days" });
    const gone = await remember(agent, { title: "Invoices of old", content: "ACME paid after sixty days" });
    const find = async (from: TestServer) => {
      const { results } = ok(
        await api(from, agent.token).post("/memories/search", { query: "when does acme pay" }),
      );
      return results.map(({ memory }: { memory: { id: string } }) => memory.id);
    };
    /** So often that each worker has had its turn. */
    const everywhere = async () => Promise.all([nodes.gateway, other, nodes.gateway, other].map(find));
    await settle(async () => (await everywhere()).every((ids) => ids.includes(kept.id)));
    ok(await agent.post(`/memories/${gone.id}/forget`));
    await settle(async () => (await everywhere()).every((ids) => ids.join() === kept.id));
  });

  test("any node runs any services: four that each run some serve as two that run all did", async () => {
    const agent = await subscriber("com.apart");
    const before = [...nodes.workers];
    const apart = ["events", "deliveries", "interests", "search"];
    await nodes.addWorker(["events"]);
    await nodes.addWorker(["deliveries", "interests"]);
    search = await nodes.addWorker(["search"]);
    await nodes.addWorker(["gateway", ...apart].map((name) => `-${name}`));
    for (const worker of before) await worker.end("SIGTERM");
    const publish = (id: string) => admin.post("/events", cloudEvent(id, { type: "com.apart" }));
    await settle(async () => (await publish("apart")).status < 300);
    expect(await receive(agent, 1)).toMatchObject([{ payload: { id: "apart" } }]);
  });

  test("without a search node, answers are degraded and say so", async () => {
    const agent = await agentIn(nodes.gateway, admin, {});
    ok(await agent.post("/handoffs", { name: "Other" }));
    const saved = ok(await agent.post("/handoffs", { name: "Invoices" }));
    const listed = () => agent.get("/handoffs?q=voice");
    // The only search node that is left may have to fetch the tenant first.
    await settle(async () => !(await listed()).headers.has("x-degraded"));
    await search.end("SIGTERM");
    const degraded = await settle(async () => {
      const answer = await listed();
      return answer.headers.has("x-degraded") && answer;
    });
    expect(degraded.headers.get("x-degraded")).toBe("the search did not respond");
    expect(ok(degraded)).toEqual([saved]);
    expect(ok(await agent.get("/memories/health"))).toMatchObject({ embed_gap_count: null, orphan_count: 0 });
  });
});
