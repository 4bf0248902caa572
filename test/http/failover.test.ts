/** @needs mongodb, nats: nodes that die and come back, NATS that stops: callers get 503 with Retry-After, nothing is lost. */
import { expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Answer, type Api, agentToken, api } from "../support/http.ts";
import { onNodes } from "../support/on-nodes.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { type Send, Traffic } from "../support/traffic.ts";

/** Longer than a heartbeat's absence is noticed after; shorter than any hang. */
const ANSWERED_MS = 15_000;

/** Returns the answer of a request: success, or 503 with Retry-After. @throws Error when it is not answered */
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

/** Requests as the agent. */
function sendAs(agent: Api): Send {
  return (method, path, body, type = "application/json") =>
    method === "GET" ? agent.get(path) : agent.post(path, body, { "content-type": type });
}

await onNodes("nodes that fail", 2, {}, ({ nodes, admin }) => {
  async function newSubscriber(): Promise<TestAgent> {
    const agent = await newAgent(nodes.gateway, admin);
    // Deliveries in a lost response are redelivered before the test times out.
    ok(await admin.patch(`/agents/${agent.id}`, { visibility_timeout_seconds: 5 }));
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: `com.${agent.id}` }));
    return agent;
  }

  test("a worker is killed: everybody is served again, and what was accepted arrives", async () => {
    const types = Array.from({ length: 4 }, (_, i) => `com.failing.${i}`);
    const settings = { agent: { visibility_timeout_seconds: 5 }, scopes: ["send", "receive"] };
    const parties = await Promise.all(
      types.map(async (type) => {
        const agent = await newReceiver(nodes.gateway, admin, type, { interests: [type], ...settings });
        return { type, send: sendAs(agent.api) };
      }),
    );
    const traffic = new Traffic("failover", parties, (id, type) => cloudEvent(id, { type }));
    let publishing = true;
    const publish = async (party: number) => {
      while (publishing) await traffic.publish(party);
    };
    const servedSince = (at: number) =>
      new Set(traffic.trips.flatMap(({ party, sentAt }) => (sentAt > at ? [party] : []))).size === 4;
    traffic.start();
    const published = Promise.all(parties.map((_, party) => publish(party)));
    published.catch(() => {});
    try {
      const start = performance.now();
      await settle(() => servedSince(start));
      const killed = performance.now();
      await (nodes.workers[0] as Child).end("SIGKILL");
      const what = "each agent to acknowledge what was published after the kill";
      await settle(() => servedSince(killed), { what });
    } finally {
      publishing = false;
    }
    await published;
    await traffic.drained();
    await traffic.stop();
    expect(traffic.longestMs).toBeLessThan(ANSWERED_MS);
  });

  test("NATS restarts before any node is missed: requests whose answer may be lost get 503", async () => {
    const agent = await newSubscriber();
    const waiting = answered(agent.get("/delivery/poll?wait=30"));
    await settle(async () => /^sensorium_http_requests_in_flight [1-9]/m.test(await nodes.gateway.metrics()));
    await nodes.nats.kill();
    await nodes.nats.start();
    expect((await waiting).status).toBe(503);
    const published = () => answered(agent.post("/events", cloudEvent("again", { type: `com.${agent.id}` })));
    await settle(async () => [200, 202].includes((await published()).status));
    expect(await receive(agent, 1)).toMatchObject([{ payload: { id: "again" } }]);
  });

  test("NATS is stopped and started: a whole node goes on, the gateway says so and comes back, nothing is lost", async () => {
    const whole = await nodes.addServer();
    const agent = await newSubscriber();
    const there = { ...agent, ...api(whole, agent.token) };
    const publish = (at: TestAgent, id: string) =>
      answered(at.post("/events", cloudEvent(id, { type: `com.${agent.id}` })));
    /** Until it is taken, or was: by a try whose answer was 503. */
    const published = (at: TestAgent, id: string) =>
      settle(async () => [200, 202].includes((await publish(at, id)).status));
    const taken: string[] = [];
    const poll = async (at: TestAgent) => {
      const { status, body } = await answered(at.get("/delivery/poll?wait=1"));
      if (status !== 200) return;
      const deliveries = body.deliveries as { id: string; payload: { id: string } }[];
      if (deliveries.length === 0) return;
      const delivery_ids = deliveries.map(({ id }) => id);
      taken.push(...deliveries.map(({ payload }) => payload.id));
      // If the acknowledgement was processed they are not redelivered, whatever the answer; otherwise they are.
      await answered(at.post("/delivery/ack", { delivery_ids }));
    };

    await nodes.nats.kill();
    await settle(async () => (await publish(agent, "at the gateway")).status === 503);
    await published(there, "alone");
    await settle(async () => poll(there).then(() => taken.includes("alone")));
    expect(await agentToken(whole, whole.credentials.agent.api_key)).toBeTruthy();
    await published(there, "for later");

    await nodes.nats.start();
    await published(agent, "together");
    const wanted = ["alone", "for later", "together"];
    await settle(async () => poll(agent).then(() => wanted.every((id) => taken.includes(id))));
  });
});
