/** @needs mongodb, nats: nodes that die and come back, NATS that stops: callers are told to come again, nothing is lost. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Answer, agentToken, api } from "../support/http.ts";
import { startMongo } from "../support/mongo.ts";
import { type Nodes, startNodes } from "../support/nodes.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

/** Longer than a heartbeat's absence is noticed after; shorter than any hang. */
const ANSWERED_MS = 15_000;
const mongo = await startMongo();

/** What a request is answered with: success, or 503 and when to come again. @throws Error when it is not answered */
async function answered(request: Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  let failure: unknown;
  request.then(
    (given) => {
      answer = given;
    },
    (err) => {
      failure = err;
    },
  );
  await settle(() => answer ?? failure, { within: ANSWERED_MS, what: "an answer, not a hang" });
  if (!answer) throw failure;
  expect([200, 202, 503]).toContain(answer.status);
  if (answer.status === 503) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  return answer;
}

/** An agent that goes on publishing to itself, polling and acknowledging, as a careful client does. */
class Client {
  readonly #agent: TestAgent;
  readonly accepted = new Set<string>();
  readonly received = new Set<string>();
  refused = 0;
  #publishing = true;
  #receiving = true;

  constructor(agent: TestAgent) {
    this.#agent = agent;
  }

  async publish(): Promise<void> {
    for (let n = 0; this.#publishing; n++) {
      const event = cloudEvent(`${this.#agent.id} ${n}`, { type: `com.${this.#agent.id}` });
      const { status } = await this.#until(() => this.#agent.post("/events", event));
      if (status === 202) this.accepted.add(event.id);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async receive(): Promise<void> {
    while (this.#receiving) {
      const { body } = await this.#until(() => this.#agent.get("/delivery/poll?wait=1"));
      const deliveries = body.deliveries as { id: string; payload: { id: string } }[];
      if (deliveries.length === 0) continue;
      const delivery_ids = deliveries.map(({ id }) => id);
      await this.#until(() => this.#agent.post("/delivery/ack", { delivery_ids }));
      for (const { payload } of deliveries) this.received.add(payload.id);
    }
  }

  /** Again, as long as the answer is to come again. */
  async #until(request: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await answered(request());
      if (answer.status !== 503) return answer;
      this.refused++;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  get missing(): string[] {
    return [...this.accepted].filter((id) => !this.received.has(id));
  }

  stopPublishing(): void {
    this.#publishing = false;
  }

  stop(): void {
    this.#publishing = false;
    this.#receiving = false;
  }
}

("url" in mongo ? describe : describe.skip)("nodes that fail", () => {
  let nodes: Nodes;
  let admin: TestAgent;

  beforeAll(async () => {
    nodes = await startNodes("url" in mongo ? mongo.url : "", 2);
    admin = await firstAgent(nodes.gateway);
  }, 60_000);
  afterAll(async () => {
    await nodes?.stop();
    if ("url" in mongo) await mongo.stop();
  }, 60_000);

  async function newSubscriber(): Promise<TestAgent> {
    const agent = await newAgent(nodes.gateway, admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: `com.${agent.id}` }));
    return agent;
  }

  test("a worker is killed: everybody is served again within 8 s, and what was accepted arrives", async () => {
    const agents = await Promise.all(Array.from({ length: 4 }, newSubscriber));
    const clients = agents.map((agent) => new Client(agent));
    const running = clients.flatMap((client) => [client.publish(), client.receive()]);
    const all = Promise.all(running);
    all.catch(() => {});
    try {
      await settle(() => clients.every(({ received }) => received.size > 5));
      await (nodes.workers[0] as Child).end("SIGKILL", 5_000);
      const before = clients.map(({ accepted }) => new Set(accepted));
      const served = () =>
        clients.every(({ received }, i) => [...received].some((id) => !before[i]?.has(id)));
      await settle(served, { within: 8_000, what: "each agent to receive what came after the kill" });
      for (const client of clients) client.stopPublishing();
      await settle(() => clients.every(({ missing }) => missing.length === 0), { within: 60_000 });
    } finally {
      for (const client of clients) client.stop();
      await all;
    }
  }, 120_000);

  test("NATS is stopped and started: a whole node goes on, the gateway says so and comes back, nothing is lost", async () => {
    const whole = await nodes.addServer();
    const agent = await newSubscriber();
    const there = { ...agent, ...api(whole, agent.token) };
    const publish = (at: TestAgent, id: string) =>
      answered(at.post("/events", cloudEvent(id, { type: `com.${agent.id}` })));
    const taken: string[] = [];
    const poll = async (at: TestAgent) => {
      const { status, body } = await answered(at.get("/delivery/poll?wait=1"));
      if (status !== 200) return;
      const deliveries = body.deliveries as { id: string; payload: { id: string } }[];
      if (deliveries.length === 0) return;
      const delivery_ids = deliveries.map(({ id }) => id);
      const { status: acked } = await answered(at.post("/delivery/ack", { delivery_ids }));
      if (acked === 200) taken.push(...deliveries.map(({ payload }) => payload.id));
    };

    await nodes.nats.kill();
    await settle(async () => (await publish(agent, "at the gateway")).status === 503, { within: 30_000 });
    await settle(async () => (await publish(there, "alone")).status === 202, { within: 30_000 });
    await settle(async () => poll(there).then(() => taken.includes("alone")), { within: 30_000 });
    expect(await agentToken(whole, whole.credentials.agent.api_key)).toBeTruthy();
    expect((await publish(there, "for later")).status).toBe(202);

    await nodes.nats.start();
    await settle(async () => (await publish(agent, "together")).status === 202, { within: 30_000 });
    const wanted = ["alone", "for later", "together"];
    await settle(async () => poll(agent).then(() => wanted.every((id) => taken.includes(id))), {
      within: 30_000,
    });
  }, 150_000);
});
