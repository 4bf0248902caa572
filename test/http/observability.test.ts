import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { receive } from "../support/agents.ts";
import { START } from "../support/alone.ts";
import { type Child, startChild } from "../support/child.ts";
import { agentToken, api } from "../support/http.ts";
import { agentIn, remember } from "../support/memories.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type Credentials, startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";
import { words } from "../support/words.ts";

const METRICS_TOKEN = "the-long-metrics-token-of-the-test";
const OPERATOR_TOKEN = "the-long-operator-token-of-the-test";
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** The value of a metric, or the sum of those whose labels contain `labels`. */
async function metricOf(server: Pick<TestServer, "metrics">, name: string, labels = ""): Promise<number> {
  const lines = (await server.metrics())
    .split("\n")
    .filter((line) => new RegExp(`^${name}[ {]`).test(line) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

type LogLine = { request_id?: string; [field: string]: unknown };

/** The last may have come in part. */
function linesOf(server: TestServer): LogLine[] {
  return server
    .logs()
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

const server = await useServer({ env: { LOG_LEVEL: "debug", RATE_LIMIT_PER_MINUTE: "0", OPERATOR_TOKEN } });
const token = await agentToken(server, server.credentials.agent.api_key);

describe("a node at work", () => {
  const event = (id: string) => ({
    ...{ specversion: "1.0", id, type: "com.example.seen", source: "/observed", data: {} },
  });

  test("is alive and ready, at the origin and under the version", async () => {
    for (const path of ["/healthz", `${server.root}/healthz`])
      expect(await api(server).get(path)).toMatchObject({ status: 200, body: { status: "ok" } });
    const body = { status: "ready", checks: { store: "ok", disk: "ok", fan_out: "ok" } };
    expect(await api(server).get(`${server.root}/readyz`)).toMatchObject({ status: 200, body });
  });

  test("counts an event from acceptance to acknowledgement", async () => {
    const { agent } = server.credentials;
    const http = api(server, token);
    await http.post(`/agents/${agent.id}/interests`, { event_type: "com.example.seen" });
    const failing = { event_type: "com.example.*", filter_expression: "data.no.such == 1" };
    await http.post(`/agents/${agent.id}/interests`, failing);
    const names = words`
      sensorium_events_accepted_total sensorium_events_duplicate_total sensorium_events_fanned_out_total
      sensorium_fan_out_lag_seconds_count sensorium_filter_errors_total sensorium_deliveries_enqueued_total
      sensorium_deliveries_handed_out_total sensorium_deliveries_acknowledged_total`;
    const read = async () => Promise.all(names.map((name) => metricOf(server, name)));
    const before = await read();
    expect((await http.post("/events", event("one"))).status).toBe(202);
    expect((await http.post("/events", event("one"))).status).toBe(200);
    const { body } = await http.get("/delivery/poll?wait=30");
    await http.post("/delivery/ack", { delivery_ids: [body.deliveries[0].id] });
    await settle(async () => {
      const now = await read();
      const grown = names.map((name, i) => [name, (now[i] as number) - (before[i] as number)] as const);
      // A duplicate is matched before the store knows it.
      const isRight = (name: string, by: number) => by === 1 || (by === 2 && name.includes("filter_errors"));
      expect(grown.filter(([name, by]) => !isRight(name, by))).toEqual([]);
      return true;
    });
  });

  test("counts as handed out what is given, not what its receiver may no longer read", async () => {
    const admin = api(server, token);
    const team = ok(await admin.post("/teams", { name: "those who read" }));
    const writer = await agentIn(server, admin, { team_id: team.id }, ["memory:write"]);
    const reader = await agentIn(server, admin, { team_id: team.id }, ["memory:read", "receive"]);
    ok(await reader.post(`/agents/${reader.id}/interests`, { event_type: "service.memory.created" }));
    await remember(writer, { scope: "team" });
    const pending = async () => ok(await admin.get(`/agents/${reader.id}/deliveries`)).deliveries.length;
    await settle(async () => (await pending()) === 1);
    const before = await metricOf(server, "sensorium_deliveries_handed_out_total");
    ok(await admin.patch(`/agents/${reader.id}`, { team_id: null }));
    expect(await receive(reader, 0)).toEqual([]);
    expect(await pending()).toBe(0);
    expect(await metricOf(server, "sensorium_deliveries_handed_out_total")).toBe(before);
  });

  test("counts nacks, dead letters and what is pending", async () => {
    const http = api(server, token);
    const { body: agent } = await http.post("/agents", { name: "short of patience", delivery_mode: "poll" });
    await http.patch(`/agents/${agent.id}`, { retry_budget: 1 });
    const { body: key } = await http.post(`/agents/${agent.id}/keys`, { scopes: ["receive"] });
    const receiver = api(server, await agentToken(server, key.key));
    await receiver.post(`/agents/${agent.id}/interests`, { event_type: "com.example.refused" });
    const names = ["sensorium_deliveries_nacked_total", "sensorium_deliveries_dead_lettered_total"];
    const counts = () => Promise.all(names.map((name) => metricOf(server, name)));
    const before = await counts();
    await http.post("/events", { ...event("refused"), type: "com.example.refused" });
    const { body } = await receiver.get("/delivery/poll?wait=30");
    await receiver.post("/delivery/nack", { delivery_ids: [body.deliveries[0].id], reason: "no" });
    await settle(async () => (await counts()).every((count, i) => count === (before[i] as number) + 1));
  });

  test("measures requests by operation and class of status, and the store's commits", async () => {
    const name = "sensorium_http_request_duration_seconds_count";
    const read = () => metricOf(server, name, 'operation="events.publish",status="4xx"');
    const before = await read();
    expect((await api(server, token).post("/events", {})).status).toBe(400);
    // Counted when the answer has gone, which its caller may have before.
    await settle(async () => (await read()) === before + 1);
    const store = ["sensorium_store_commit_seconds_count", "sensorium_store_operations_total"];
    for (const name of [...store, "process_resident_memory_bytes"])
      expect([name, (await metricOf(server, name)) > 0]).toEqual([name, true]);
    expect(await metricOf(server, "nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
  });

  test("tells the memory of each thread by its name", async () => {
    const body = await server.metrics();
    for (const name of ["thread_heap_used_bytes", "thread_heap_size_bytes", "thread_external_bytes"]) {
      for (const thread of ["main", "store-writer", "store-reader"]) {
        const [, bytes] =
          new RegExp(`^sensorium_${name}\\{thread="${thread}"\\} (\\d+)$`, "m").exec(body) ?? [];
        expect(Number(bytes)).toBeGreaterThan(0);
      }
    }
    expect(body).toMatch(/^sensorium_threads\{thread="main"\} 1$/m);
    const threads = [...body.matchAll(/^sensorium_threads\{thread="([^"]+)"\}/gm)].map(
      ([, thread]) => thread,
    );
    const known = words`main store-writer store-reader store-scanner search splitter embedder render`;
    expect(threads.filter((thread) => !known.includes(thread as string))).toEqual([]);
  });

  test("no label of a metric is an id", async () => {
    const body = await server.metrics();
    const { agent, tenant_id } = server.credentials;
    expect(body).not.toContain(agent.id);
    expect(body).not.toContain(tenant_id);
    expect(body).not.toMatch(/="(ag|tn|evt|dlv|int|ch|usr|key)_/);
  });

  test.each([
    ["rebound.attacker.example", 404],
    ["127.0.0.1.attacker.example", 404],
    ["localhost", 200],
    ["127.0.0.1:1", 200],
    ["[::1]:3000", 200],
  ])("measures are for this machine under its own names: of Host %s it answers %d", async (host, status) => {
    const { hostname, port } = new URL(server.root);
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request({ hostname, port, path: "/metrics", headers: { host } }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      asked.on("error", reject).end();
    });
    expect(answered).toBe(status);
  });

  test("metrics are for this machine only: not for what a proxy on it passes on", async () => {
    const refused = await api(server).get(`${server.root}/metrics`, { "x-forwarded-for": "203.0.113.9" });
    expect(refused).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  });

  test("logs each request with its ids and its route, never the path", async () => {
    const { status } = await api(server, token).get(`/agents/${server.credentials.agent.id}`, {
      "x-request-id": "req_of_this_test",
      traceparent: TRACEPARENT,
    });
    expect(status).toBe(200);
    const line = await settle(() =>
      linesOf(server).find(({ request_id }) => request_id === "req_of_this_test"),
    );
    expect(line).toMatchObject({
      ...{ level: "debug", msg: "request", route: "/agents/{agent_id}", status: 200 },
      tenant_id: server.credentials.tenant_id,
      trace_id: "0af7651916cd43dd8448eb211c80319c",
    });
  });

  test("no secret of any kind stands in its log", async () => {
    const { admin, agent } = server.credentials;
    const http = api(server, token);
    const made = await http.post("/agents", { name: "with secrets", delivery_mode: "push" });
    const key = await http.post(`/agents/${made.body.id}/keys`, { scopes: ["receive"] });
    const rotated = await http.post(`/agents/${made.body.id}/signing-secret`, {});
    const login = await api(server).post("/auth/login", admin);
    await api(server).post("/auth/login", { email: admin.email, password: "wrong-password-of-the-test" });
    await api(server).post("/auth/token", { api_key: `ak_live_${"x".repeat(32)}` });
    await api(server, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln").get("/auth/me");
    await api(server, OPERATOR_TOKEN).get("/tenants");
    const end = await http.get("/healthz", { "x-request-id": "req_the_last_one" });
    expect(end.status).toBe(200);
    await settle(() => linesOf(server).find(({ request_id }) => request_id === "req_the_last_one"));
    const log = linesOf(server)
      .map((line) => JSON.stringify(line))
      .join("\n");
    const secrets = [
      token,
      ...[agent.api_key, admin.password, key.body.key],
      rotated.body.signing_secret ?? rotated.body.secret,
      made.body.signing_secret,
      login.body.access_token,
      "wrong-password-of-the-test",
      `ak_live_${"x".repeat(32)}`,
      "eyJhbGciOiJub25lIn0",
      OPERATOR_TOKEN,
    ];
    for (const secret of secrets) {
      expect(typeof secret).toBe("string");
      expect(log.includes(secret)).toBe(false);
    }
  });
});

describe("a node with a metrics token", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ env: { METRICS_TOKEN } });
  });
  afterAll(() => server.stop());

  // First: it is counted once a minute at most.
  test("counts what is pending", async () => {
    const { agent } = server.credentials;
    const http = api(server, await agentToken(server, agent.api_key));
    await http.post(`/agents/${agent.id}/interests`, { event_type: "com.example.left" });
    const began = Date.now();
    for (const id of ["a", "b"])
      await http.post("/events", { specversion: "1.0", id, type: "com.example.left", source: "/observed" });
    await settle(async () => (await http.get("/delivery/stats")).body.pending === 2);
    const { headers, body } = await api(server, METRICS_TOKEN).get(`${server.root}/metrics`);
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(body).toMatch(/^sensorium_deliveries_pending\{state="ready"\} 2$/m);
    expect(body).toMatch(/^sensorium_deliveries_pending\{state="leased"\} 0$/m);
    const oldest = Number(/^sensorium_deliveries_oldest_seconds\{state="ready"\} (.+)$/m.exec(body)?.[1]);
    expect(oldest).toBeGreaterThan(0);
    expect(oldest).toBeLessThanOrEqual((Date.now() - began) / 1000);
  });

  test.each<[string, string | undefined, number]>([
    ["without it", undefined, 401],
    ["with another", "wrong", 401],
    ["with it", METRICS_TOKEN, 200],
  ])("%s", async (_what, token, status) =>
    expect((await api(server, token).get(`${server.root}/metrics`)).status).toBe(status),
  );
});

describe("a node whose disk is nearly full", () => {
  let dataDir: string;
  let child: Child;
  let server: Pick<TestServer, "url" | "root">;
  let credentials: Credentials;
  beforeAll(async () => {
    dataDir = await ownFolder();
    const { PATH = "" } = process.env;
    // No disk has as much free as this asks for.
    const env = { PATH, PORT: "0", DATA_DIR: dataDir, MIN_FREE_DISK_MB: "1000000000" };
    child = await startChild(process.execPath, START, { cwd: join(import.meta.dirname, "../.."), env });
    const [root] = await child.find(/http:\/\/127\.0\.0\.1:\d+/);
    server = { root, url: `${root}/v1` };
    credentials = JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8"));
  });
  afterAll(async () => {
    expect(await child.end("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  test("is alive, and not ready because of it", async () => {
    expect(await api(server).get("/healthz")).toMatchObject({ status: 200 });
    const { status, body } = await api(server).get(`${server.root}/readyz`);
    expect(status).toBe(503);
    expect(body).toMatchObject({
      status: "not_ready",
      checks: { disk: expect.stringMatching(/^\d+ MB free/), store: "ok" },
    });
  });

  test("refuses writes", async () => {
    const http = api(server, await agentToken(server, credentials.agent.api_key));
    const event = { specversion: "1.0", id: "full", type: "com.example.full", source: "/disk" };
    const refused = await http.post("/events", event);
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: "service_unavailable", details: { retry_after_seconds: 30 } } },
    });
    expect(refused.headers.get("retry-after")).toBe("30");
  });

  test("signs in, reads and deletes", async () => {
    const http = api(server, await agentToken(server, credentials.agent.api_key));
    expect(await http.get("/events")).toMatchObject({ status: 200, body: { events: [] } });
    expect((await http.del(`/agents/${credentials.agent.id}/interests/int_none`)).status).toBe(404);
  });
});
