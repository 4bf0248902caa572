/**
 * @needs mongodb, nats: gateways and workers: it is the same whichever of them is asked; what one tenant has published keeps
 * no other waiting; ticks and delayed events where some are killed; what they cost while receivers wait.
 */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type CountedWay, countedWay } from "../../bench/lib/wire.ts";
import { cloudEvent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Api, api } from "../support/http.ts";
import { agentIn, remember } from "../support/memories.ts";
import { onNodes } from "../support/on-nodes.ts";
import { pagesOf } from "../support/pages.ts";
import { newReceiver } from "../support/receiver.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { openStream, type StreamMessage } from "../support/stream.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
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

type Summary = { accepted_at: string; matched_at: string; matched_count: number };

const FLOOD = 2_000;
const RECEIVERS = 20;
const FEW = 100;
const BATCH = 100;
const BATCH_TYPE = { "content-type": "application/cloudevents-batch+json" };

await onNodes("the events of two tenants", 2, { EMBEDDER: "none", OPERATOR_TOKEN }, ({ nodes, admin }) => {
  async function publishMany(api: Api, type: string, count: number): Promise<string[]> {
    const batches = Array.from({ length: count / BATCH }, (_, at) =>
      Array.from({ length: BATCH }, (_, n) => cloudEvent(`${type}-${at}-${n}`, { type })),
    );
    const answers = await Promise.all(batches.map((events) => api.post("/events", events, BATCH_TYPE)));
    return answers.flatMap((answer) => ok(answer).map(({ event_id }: { event_id: string }) => event_id));
  }

  /** The events of a type, when all of them have been brought to their receivers. */
  function fannedOut(api: Api, type: string, count: number): Promise<Summary[]> {
    const all = async () => {
      const found: Summary[] = await pagesOf(api, `/events?type=${type}&limit=200`, "events");
      return found.length === count && found.every(({ matched_at }) => matched_at !== null) && found;
    };
    return settle(all, { within: 120_000, every: 200, what: `all of ${type} to be fanned out` });
  }

  test("a few events of one are brought to their receivers before the flood of the other that came earlier", async () => {
    const calm = await makeWorld(nodes.gateway, "calm");
    for (let n = 0; n < RECEIVERS; n++) {
      const agent = await newAgent(nodes.gateway, admin);
      ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.flood" }));
    }
    ok(await calm.agent.post(`/agents/${calm.agentId}/interests`, { event_type: "com.few" }));
    const flood = await publishMany(admin, "com.flood", FLOOD);
    const few = await publishMany(calm.agent, "com.few", FEW);
    const own = await fannedOut(calm.agent, "com.few", few.length);
    const theirs = await fannedOut(admin, "com.flood", flood.length);
    const accepted = Math.max(...own.map(({ accepted_at }) => Date.parse(accepted_at)));
    const last = Math.max(...own.map(({ matched_at }) => Date.parse(matched_at)));
    const after = (time: number) => theirs.filter(({ matched_at }) => Date.parse(matched_at) > time).length;
    expect(own.every(({ matched_count }) => matched_count === 1)).toBe(true);
    expect(theirs.every(({ matched_count }) => matched_count === RECEIVERS)).toBe(true);
    // However far the flood was when the few were accepted, and whatever of it was under way, they pass the rest.
    expect(after(accepted)).toBeGreaterThan(FEW);
    expect(after(last)).toBeGreaterThan(FEW);
  });
});

const SCHEDULES = 40;
const APART_MS = 250;

await onNodes("three workers, of which two are killed", 3, {}, ({ nodes, admin }) => {
  test("publish each tick once, and deliver each delayed event", async () => {
    const receiver = await newAgent(nodes.gateway, admin);
    ok(await receiver.post(`/agents/${receiver.id}/interests`, { event_type: "com.clocks.*" }));
    const start = Date.now() + 10_000;
    const due = (i: number) => new Date(start + i * APART_MS).toISOString();
    const made = await Promise.all(
      Array.from({ length: SCHEDULES }, async (_, i) => {
        const event = { type: "com.clocks.tick", data: { i } };
        return ok(await admin.post("/schedules", { name: `tick ${i}`, at: due(i), event }));
      }),
    );
    for (let i = 0; i < SCHEDULES; i++)
      ok(
        await admin.post(
          "/events",
          cloudEvent(`delayed-${i}`, { type: "com.clocks.delayed", notbefore: due(i), data: { i } }),
        ),
      );
    const [first, second] = nodes.workers as [Child, Child];
    await settle(() => Date.now() > start + 2 * APART_MS);
    await first.end("SIGKILL");
    await settle(() => Date.now() > start + 15 * APART_MS);
    await second.end("SIGKILL");
    const all = await receive(receiver, 2 * SCHEDULES);
    const of = (type: string) =>
      all.filter(({ payload }) => payload.type === type).map(({ payload }) => payload.data.i);
    const each = Array.from({ length: SCHEDULES }, (_, i) => i);
    for (const type of ["com.clocks.tick", "com.clocks.delayed"])
      expect(of(type).toSorted((a: number, b: number) => a - b)).toEqual(each);
    for (const { id, at } of made) {
      const ended = await settle(async () => {
        const now = ok(await admin.get(`/schedules/${id}`));
        return now.status === "ended" && now;
      });
      expect(ended).toMatchObject({ run_count: 1, last_run_at: at });
    }
    // None was published in addition.
    const { events } = ok(await admin.get("/events?type=com.clocks.tick&limit=200"));
    expect(events).toHaveLength(SCHEDULES);
    for (const { payload, accepted_at } of events) expect(accepted_at >= payload.time).toBe(true);
  });
});

/** Receivers that wait by poll, and as many by stream: first few, then many more. */
const FEWEST = 5;
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
    for (let n = 0; n < 2 * (FEWEST + MORE); n++) tokens.push((await newAgent(nodes.gateway, admin)).token);
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
    const few = await waiting(tokens.slice(0, 2 * FEWEST), 2 * FEWEST);
    const ofFew = await counted();
    const more = await waiting(tokens.slice(2 * FEWEST), 2 * (FEWEST + MORE));
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
