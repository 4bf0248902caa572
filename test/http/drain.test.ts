import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, receive } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import { agentToken, api } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

/** Longer than a test takes. */
const LONG = "600";

let server: TestServer;
afterEach(() => server.stop());

const readiness = () => api(server).get(`${server.root}/readyz`);
const isGone = () =>
  readiness().then(
    () => false,
    () => true,
  );
const gone = () => settle(isGone, { what: "the node to stop listening" });

async function startDraining(DRAIN_SECONDS: string): Promise<void> {
  server = await startAlone({ env: { DRAIN_SECONDS } });
  process.kill(server.pid(), "SIGTERM");
  await settle(async () => (await readiness()).status === 503, { what: "/readyz to answer 503" });
}

describe("a node that drains", () => {
  test("is not ready and still serves, on connections that it closes; SIGINT ends the wait", async () => {
    await startDraining(LONG);
    expect((await readiness()).body.checks.node).toBe("shutting down");
    const agent = await firstAgent(server);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.example.thing" }));
    const published = await agent.post("/events", cloudEvent("while it drains"));
    expect([published.status, published.headers.get("connection")]).toEqual([202, "close"]);
    expect(await receive(agent, 1)).toMatchObject([{ payload: { id: "while it drains" } }]);
    // A second SIGTERM changes nothing.
    process.kill(server.pid(), "SIGTERM");
    expect((await agent.get("/auth/me")).status).toBe(200);
    const waiting = agent.get("/delivery/poll?wait=30");
    await settle(async () => /http_requests_in_flight [2-9]/.test(await server.metrics()));
    process.kill(server.pid(), "SIGINT");
    expect(ok(await waiting).deliveries).toEqual([]);
    await gone();
    await server.end();
  });

  test("stops by itself after DRAIN_SECONDS", async () => {
    await startDraining("1");
    await gone();
    await settle(() => /serving for another 1 s, then stopping/.test(server.logs()));
  });
});

test("without DRAIN_SECONDS a node stops listening at once, and answers requests for as long as one after the other ends", async () => {
  server = await startAlone();
  const token = await agentToken(server, server.credentials.agent.api_key);
  const half = async (id: string) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const req = request(`${server.url}/events`, { method: "POST", headers });
    const answered = once(req, "response") as Promise<[IncomingMessage]>;
    const text = JSON.stringify(cloudEvent(id));
    req.write(text.slice(0, 9));
    return { rest: () => void req.end(text.slice(9)), answered };
  };
  // Together longer than a stop that makes no progress may take.
  const uploads = await Promise.all(Array.from({ length: 12 }, (_, i) => half(`${i}`)));
  await settle(async () => /http_requests_in_flight 13/.test(await server.metrics()));
  process.kill(server.pid(), "SIGTERM");
  await gone();
  expect(server.logs()).not.toMatch(/serving for another/);
  for (const { rest, answered } of uploads) {
    await setTimeout(400);
    rest();
    const [{ statusCode }] = await answered;
    expect(statusCode).toBe(202);
  }
  await server.end();
});
