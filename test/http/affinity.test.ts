/** @needs mongodb, nats: an agent's queue is on one of several workers, whichever node it is asked through. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { startMongo } from "../support/mongo.ts";
import { type Nodes, startNodes } from "../support/nodes.ts";
import { openStream, type StreamMessage } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

const mongo = await startMongo();

("url" in mongo ? describe : describe.skip)("two workers behind a gateway", () => {
  let nodes: Nodes;
  let admin: TestAgent;

  beforeAll(async () => {
    nodes = await startNodes("url" in mongo ? mongo.url : "", 2);
    admin = await firstAgent(nodes.gateway);
  });
  afterAll(async () => {
    await nodes?.stop();
    if ("url" in mongo) await mongo.stop();
  });

  /** An agent that wants a type of events, and that many of these published. */
  async function agentWith(type: string, events: number): Promise<TestAgent> {
    const agent = await newAgent(nodes.gateway, admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: type }));
    for (let i = 0; i < events; i++) ok(await admin.post("/events", cloudEvent(`${type} ${i}`, { type })));
    return agent;
  }

  test("a stream holds at most its limit, and an ack frees capacity", async () => {
    const agent = await agentWith("com.room", 6);
    const url = `${nodes.gateway.url}/delivery/stream?max_in_flight=1`;
    const { chunks, close } = await openStream(url, agent.token);
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
      const other = agentWith(`com.other.${acks}`, 1).then((agent) => receive(agent, 1));
      expect(await Promise.race([coming, other.then(() => "nothing more")])).toBe("nothing more");
      ok(await agent.post("/delivery/ack", { delivery_ids: [held] }));
      const ids = await coming;
      expect(ids).toHaveLength(1);
      [held] = ids;
    }
    close();
  });

  test("every agent's queue is served, whichever worker owns it", async () => {
    const agents = await Promise.all(Array.from({ length: 6 }, (_, i) => agentWith(`com.own.${i}`, 2)));
    for (const agent of agents) expect(await receive(agent, 2)).toHaveLength(2);
  });
});
