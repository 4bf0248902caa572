/** @needs mongodb, nats: two gateways and two workers: it is the same whichever of them is asked. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { api } from "../support/http.ts";
import { agentIn, remember } from "../support/memories.ts";
import { onNodes } from "../support/on-nodes.ts";
import { newReceiver } from "../support/receiver.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { openStream, type StreamMessage } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";
import { metricsOf } from "../support/worker.ts";

const PUSHED = 12;

const settings = { EMBEDDER: "none", PUSH_ALLOW_PRIVATE: "true" };
await onNodes("two gateways and two workers", 2, settings, ({ nodes, admin }) => {
  let other: TestServer;
  let search: Child;
  let endpoint: Endpoint;

  beforeAll(async () => {
    other = await nodes.addServer(["gateway"]);
    endpoint = await startEndpoint();
  });
  afterAll(() => endpoint.stop());

  async function subscriber(type: string): Promise<TestAgent> {
    const agent = await newAgent(nodes.gateway, admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: type }));
    return agent;
  }

  test("a poll that waits at one gateway is woken by an event at the other", async () => {
    const agent = await subscriber("com.awaited");
    const waiting = api(other, agent.token).get("/delivery/poll?wait=30");
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

  /** An agent that wants a type of events, and that many of these published. */
  async function subscriberWith(type: string, events: number): Promise<TestAgent> {
    const agent = await subscriber(type);
    for (let i = 0; i < events; i++) ok(await admin.post("/events", cloudEvent(`${type} ${i}`, { type })));
    return agent;
  }

  test("a stream at one gateway holds at most its limit, and an ack at the other frees capacity", async () => {
    const agent = await subscriberWith("com.room", 6);
    const { chunks, close } = await openStream(`${other.url}/delivery/stream?max_in_flight=1`, agent.token);
    const next = async () => {
      for (;;) {
        const { value = [] } = await chunks.next();
        const ids = value.flatMap(({ event, id }: StreamMessage) => (event === "delivery" ? [id] : []));
        if (ids.length) return ids;
      }
    };
    let [held] = await next();
    for (let acks = 1; acks < 6; acks++) {
      const coming = next();
      // As long as another agent's events take all the way, a claim at a worker that counts for itself would take less.
      const theirs = subscriberWith(`com.other.${acks}`, 1).then((agent) => receive(agent, 1));
      expect(await Promise.race([coming, theirs.then(() => "nothing more")])).toBe("nothing more");
      ok(await agent.post("/delivery/ack", { delivery_ids: [held] }));
      const ids = await coming;
      expect(ids).toHaveLength(1);
      [held] = ids;
    }
    close();
  });

  test("every agent's queue is served, whichever worker owns it", async () => {
    const agents = await Promise.all(Array.from({ length: 6 }, (_, i) => subscriberWith(`com.own.${i}`, 2)));
    for (const agent of agents) expect(await receive(agent, 2)).toHaveLength(2);
  });

  /** How many agents each of these workers pushes to. */
  function targets(workers: Child[]): Promise<number[]> {
    return Promise.all(
      workers.map(async (worker) =>
        Number(/^sensorium_push_targets\{[^}]*\} (\d+)/m.exec(await metricsOf(worker))?.[1] ?? 0),
      ),
    );
  }
  const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);

  async function reachesAll(id: string): Promise<void> {
    await settle(
      async () => (await admin.post("/events", cloudEvent(id, { type: "com.pushed" }))).status < 300,
    );
    const ids = () =>
      endpoint.pushed.filter(({ body }) => JSON.parse(body).id === id).map(({ path }) => path);
    await settle(() => new Set(ids()).size === PUSHED, { what: "a push to every agent" });
    expect(ids()).toHaveLength(PUSHED);
  }

  test("each agent is pushed to once, by the one node that it is kept on", async () => {
    for (let n = 0; n < PUSHED; n++) {
      const agent = { delivery_mode: "push", delivery_endpoint: `${endpoint.url}/${n}` };
      await newReceiver(nodes.gateway, admin, `pushed ${n}`, { interests: ["com.pushed"], agent });
    }
    await settle(async () => sum(await targets(nodes.workers)) === PUSHED);
    await reachesAll("by two");
  });

  test("a node that dies leaves its agents to the other", async () => {
    const [dying, left] = nodes.workers as [Child, Child];
    await dying.end("SIGKILL");
    await settle(async () => sum(await targets([left])) === PUSHED);
    await reachesAll("by one");
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
