import { describe, expect, test } from "@jest/globals";
import type { NodeReport } from "../../services/platform/nodes/nodes.contract.ts";
import { findProblems, nodesService } from "../../services/platform/nodes/nodes.service.ts";
import type { Runtime } from "../../services/runtime.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";

const server = await useServer({ env: { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
const operator = api(server, OPERATOR_TOKEN);
const world = await makeWorld(server, "modes");

const event = (id: string) => ({ specversion: "1.0", id, type: "com.example.mode", source: "/modes" });
const set = async (body: object) => ok(await operator.patch("/installation", body));

test("the nodes report versions, clocks, links, indexes, queues and disks", async () => {
  const { nodes, ages, problems } = ok(await operator.get("/nodes"));
  expect(nodes.length).toBeGreaterThan(0);
  expect(nodes[0]).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+/),
    status: "ready",
    checks: { store: "ok", maintenance: "ok" },
    disk: { free_bytes: expect.any(Number), total_bytes: expect.any(Number) },
    links: { peers: expect.any(Object), breakers: expect.any(Object) },
    indexes: { without_vector: expect.any(Number) },
    queues: { fan_out: expect.any(Number) },
    modes: { maintenance: false, log_level: expect.any(String) },
  });
  const services = nodes.flatMap((node: NodeReport) => node.services);
  expect(services).toEqual(expect.arrayContaining(["gateway", "deliveries", "nodes"]));
  expect(Math.abs(Date.parse(nodes[0].clock.at) - Date.now())).toBeLessThan(60_000);
  expect(Object.keys(ages)).toEqual(["fan_out_seconds", "delivery_seconds"]);
  expect(Array.isArray(problems)).toBe(true);
  await refused(world.admin.get("/nodes"), "authentication_failed");
});

test("the nodes are examined: what is wrong is named, and what is in order is not", () => {
  const now = Date.parse("2026-05-04T10:00:00.000Z");
  const fine: NodeReport = {
    ...{ node: "a-1", version: "1.2.0", status: "ready", started_at: new Date(now).toISOString() },
    services: [],
    checks: { store: "ok" },
    clock: { at: new Date(now).toISOString(), error_seconds: 0.01 },
    ...{ disk: { free_bytes: 50, total_bytes: 100 }, memory_bytes: 1 },
    links: { peers: { lost: 0 }, breakers: { open: 0 }, nats_connected: true, redis: null },
    ...{ indexes: { without_vector: 3 }, queues: { fan_out: 0, waiting: {} } },
    modes: { maintenance: false, log_level: "info" },
  };
  const none = { silent: [], others: [], ages: { fan_out_seconds: 2, delivery_seconds: null } };
  const found = (change: Partial<NodeReport>, more: object = {}) =>
    findProblems({ ...none, nodes: [{ ...fine, ...change }], ...more }, now).map(
      ({ severity, node, check }) => `${severity} ${node} ${check}`,
    );
  expect(found({})).toEqual([]);
  const at = new Date(now + 9000).toISOString();
  expect(found({ clock: { at, error_seconds: 0.4 } })).toEqual(["note a-1 clock", "note a-1 clock"]);
  expect(found({ disk: { free_bytes: 5, total_bytes: 100 } })).toEqual(["note a-1 disk"]);
  expect(found({ status: "not_ready", checks: { store: "failed", nats: "ok" } })).toEqual([
    "wrong a-1 store",
  ]);
  expect(found({ checks: { nats: "not connected" } })).toEqual(["note a-1 nats"]);
  const lost = { ...fine.links, peers: { lost: 2 }, breakers: { open: 1 } };
  expect(found({ links: lost })).toEqual(["wrong a-1 links", "wrong a-1 links"]);
  expect(found({ indexes: { without_vector: 20_000 } })).toEqual(["note a-1 indexes"]);
  const two = [fine, { ...fine, node: "b-1", version: "1.1.0" }];
  expect(found({}, { nodes: two })).toEqual(["note null versions"]);
  expect(found({}, { silent: ["c-1"], others: ["d-1"] })).toEqual(["wrong c-1 answers", "note d-1 answers"]);
  const ages = { fan_out_seconds: 90, delivery_seconds: 61 };
  expect(found({}, { ages })).toEqual(["wrong null fan_out", "wrong null deliveries"]);
});

test("a node that cannot be asked is one that does not follow", async () => {
  const nodes = { toArray: () => [{ id: "here-1" }, { id: "lost-1" }] };
  const actions = {
    list: () => [{ name: "nodes.follow", endpoints: [{ nodeID: "here-1", available: true }] }],
  };
  const broker = { registry: { nodes, actions }, call: async () => true };
  const store = { collection: () => ({ findOne: async () => null }) };
  const { installation } = nodesService({ store } as unknown as Runtime).actions as Record<string, never>;
  const { handler } = installation as unknown as { handler(ctx: object): Promise<object> };
  expect(await handler({ broker, meta: {} })).toMatchObject({
    nodes: [
      { node: "here-1", applied: true },
      { node: "lost-1", applied: false },
    ],
  });
});

describe("maintenance", () => {
  test("is not ended by another change at the same time", async () => {
    await Promise.all([set({ maintenance: true, reason: "one" }), set({ log_level: null })]);
    expect(ok(await operator.get("/installation")).maintenance).toMatchObject({ reason: "one" });
    expect(await set({ reason: "two" })).toMatchObject({ maintenance: { reason: "two" } });
    await Promise.all([set({ maintenance: false }), set({ log_level: null })]);
    expect(await set({ reason: "none" })).toMatchObject({ maintenance: null });
  });

  test("refuses writes and says why, while reads and settling go on", async () => {
    const { agent, admin, agentId } = world;
    ok(await agent.post(`/agents/${agentId}/interests`, { event_type: "com.example.mode" }));
    ok(await agent.post("/events", event("before")));
    const { deliveries } = ok(await agent.get("/delivery/poll?wait=30"));
    const begun = await set({ maintenance: true, reason: "moving" });
    expect(begun).toMatchObject({ maintenance: { reason: "moving", since: expect.any(String) } });
    expect(begun.nodes.map(({ applied }: { applied: boolean }) => applied)).not.toContain(false);
    const refused = await agent.post("/events", event("during"));
    expect(refused).toMatchObject(refusal(503, "service_unavailable", { retry_after_seconds: 30 }));
    expect(refused.body.error.message).toContain("maintenance (moving)");
    expect(refused.headers.get("retry-after")).toBe("30");
    expect((await admin.del(`/agents/${agentId}/interests/int_none`)).status).toBe(503);
    expect((await agent.post("/outputs", { body: 1 })).status).toBe(503);
    const tool = { jsonrpc: "2.0", id: 1, method: "tools/call" };
    const called = await agent.post("/mcp", {
      ...tool,
      params: { name: "events_publish", arguments: event("mcp") },
    });
    expect(JSON.stringify(called.body)).toContain("maintenance (moving)");
    ok(await admin.get("/agents"));
    ok(await agent.post("/memories/search", { query: "anything" }));
    expect(
      ok(await agent.post("/delivery/next", { ack: { delivery_ids: [deliveries[0].id] } })),
    ).toMatchObject({ acknowledged: 1 });
    const { email, password } = world.credentials;
    ok(await api(server).post("/auth/login", { email, password, tenant_slug: world.slug }));
    expect(ok(await api(server).get(`${server.root}/readyz`)).checks.maintenance).toBe("writes are refused");
    expect(ok(await operator.get("/nodes")).problems).toContainEqual(
      expect.objectContaining({ check: "maintenance", severity: "note" }),
    );
    ok(await operator.patch(`/tenants/${world.tenant_id}`, { requests_per_minute: null }));
  });

  test("lets clients renew and end their sign-ins", async () => {
    const send = async (path: string, fields: Record<string, string>) => {
      const body = new URLSearchParams(fields);
      return (await fetch(`${server.root}${path}`, { method: "POST", body })).status;
    };
    expect(await send("/oauth/token", { grant_type: "refresh_token", refresh_token: "none" })).toBe(400);
    expect(await send("/oauth/revoke", { token: "none" })).toBe(200);
  });

  test("outlives a restart, until it is ended", async () => {
    const { agent } = world;
    await server.restart();
    await settle(async () => (await agent.post("/events", event("restarted"))).status === 503);
    expect(await set({ maintenance: false })).toMatchObject({ maintenance: null });
    ok(await agent.post("/events", event("after")));
    expect(ok(await operator.get("/installation")).maintenance).toBeNull();
  });
});

test("the log level changes on all nodes, and back", async () => {
  expect(await set({ log_level: "debug" })).toMatchObject({ log_level: "debug", maintenance: null });
  ok(await world.admin.get("/agents"));
  await settle(() => server.logs().includes('"level":"debug"'));
  expect(ok(await operator.get("/nodes")).nodes[0].modes.log_level).toBe("debug");
  await set({ log_level: null });
  expect(ok(await operator.get("/nodes")).nodes[0].modes.log_level).not.toBe("debug");
  await refused(operator.patch("/installation", { log_level: "loud" }), "validation_failed", "log_level");
});
