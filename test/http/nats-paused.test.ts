/** @needs mongodb, nats: what holds on every node while NATS is stuck or gone, because the record says so. */
import { beforeAll, expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { type Answer, api } from "../support/http.ts";
import { onNodes } from "../support/on-nodes.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

await onNodes("without NATS", 1, {}, ({ nodes, admin }) => {
  let one: TestServer;
  let other: TestServer;
  beforeAll(async () => {
    [one, other] = [await nodes.addServer(), await nodes.addServer()];
  });

  const at = (server: TestServer, agent: TestAgent): TestAgent => ({ ...agent, ...api(server, agent.token) });

  /** Until a node has given up on the others, what it asks of them is answered with 503. */
  function accepted(request: () => Promise<Answer>): Promise<Answer> {
    return settle(
      async () => {
        const answer = await request();
        return answer.status !== 503 && answer;
      },
      { what: "an answer other than 503" },
    );
  }

  test("an interest made on one node counts for an event published on another at once", async () => {
    const agent = await newAgent(nodes.gateway, admin);
    // Deliveries in a stuck response are redelivered before the test times out.
    ok(await admin.patch(`/agents/${agent.id}`, { visibility_timeout_seconds: 5 }));
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.known" }));
    // So that every node that matches has the tenant's table in memory.
    for (const server of [nodes.gateway, one, other])
      ok(await at(server, agent).post("/events", cloudEvent(server.url, { type: "com.known" })));
    await receive(agent, 3);

    await nodes.nats.pause();
    try {
      const interest = () => at(one, agent).post(`/agents/${agent.id}/interests`, { event_type: "com.new" });
      const made = await accepted(interest);
      // A node whose answer was lost may have processed the first attempt.
      expect(made.status === 201 || made.body.error.details.rule === "interest_conflict").toBe(true);
      const event = cloudEvent("at once", { type: "com.new" });
      expect([200, 202]).toContain((await accepted(() => at(other, agent).post("/events", event))).status);
      const polled = () => at(other, agent).get("/delivery/poll?wait=1");
      const { body } = await settle(
        async () => {
          const answer = await polled();
          return answer.status === 200 && answer.body.count > 0 && answer;
        },
        { what: "the event" },
      );
      expect(body.deliveries).toMatchObject([{ payload: { id: "at once" } }]);
    } finally {
      nodes.nats.resume();
    }
  });

  /** Ways to lose NATS and to get it back. */
  const without = {
    paused: { begin: () => nodes.nats.pause(), end: () => nodes.nats.resume() },
    killed: { begin: () => nodes.nats.kill(), end: () => nodes.nats.start() },
  };

  test.each(["paused", "killed"] as const)("%s: a revoked key is refused on every node", async (way) => {
    const agent = await settle(() => newAgent(nodes.gateway, admin));
    const everywhere = [nodes.gateway, one, other].map((server) => at(server, agent));
    const statuses = () => Promise.all(everywhere.map(async (there) => (await there.get("/auth/me")).status));
    await settle(async () => (await statuses()).every((status) => status === 200));
    const { keys } = ok(await admin.get(`/agents/${agent.id}/keys`));
    await without[way].begin();
    try {
      const revoked = await accepted(() => at(one, admin).del(`/agents/${agent.id}/keys/${keys[0].id}`));
      expect([204, 404]).toContain(revoked.status);
      // A gateway alone can ask nobody: it lets nobody in.
      const refused = async () => {
        const [alone, ...whole] = await statuses();
        return [401, 503].includes(alone as number) && whole.every((status) => status === 401);
      };
      await settle(refused, { what: "every node to refuse the token" });
    } finally {
      await without[way].end();
    }
  });
});
