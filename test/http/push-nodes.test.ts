/** @needs mongodb, nats: of several nodes each endpoint has one that pushes to it, and another when that one dies. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { startMongo } from "../support/mongo.ts";
import { type Nodes, startNodes } from "../support/nodes.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { metricsOf } from "../support/worker.ts";

const AGENTS = 12;
const mongo = await startMongo();

("url" in mongo ? describe : describe.skip)("pushes from two workers", () => {
  let nodes: Nodes;
  let admin: TestAgent;
  let endpoint: Endpoint;

  beforeAll(async () => {
    const settings = { RATE_LIMIT_PER_MINUTE: "0", PUSH_ALLOW_PRIVATE: "true" };
    nodes = await startNodes("url" in mongo ? mongo.url : "", 2, settings);
    endpoint = await startEndpoint();
    admin = await firstAgent(nodes.gateway);
    for (let n = 0; n < AGENTS; n++) {
      const agent = { delivery_mode: "push", delivery_endpoint: `${endpoint.url}/${n}` };
      await newReceiver(nodes.gateway, admin, `pushed ${n}`, { interests: ["com.pushed"], agent });
    }
  });
  afterAll(async () => {
    await nodes?.stop();
    await endpoint?.stop();
    if ("url" in mongo) await mongo.stop();
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

  async function publish(id: string): Promise<void> {
    await settle(
      async () => (await admin.post("/events", cloudEvent(id, { type: "com.pushed" }))).status < 300,
    );
    const ids = () =>
      endpoint.pushed.filter(({ body }) => JSON.parse(body).id === id).map(({ path }) => path);
    await settle(() => new Set(ids()).size === AGENTS, { what: "a push to every agent" });
    expect(ids()).toHaveLength(AGENTS);
  }

  test("each agent is pushed to once, by the one node that it is kept on", async () => {
    await settle(async () => sum(await targets(nodes.workers)) === AGENTS);
    await publish("by two");
  });

  test("a node that dies leaves its agents to the other", async () => {
    const [dying, left] = nodes.workers as [Child, Child];
    await dying.end("SIGKILL");
    await settle(async () => sum(await targets([left])) === AGENTS);
    await publish("by one");
  });
});
