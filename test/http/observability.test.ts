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
import type { Credentials, TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused, type World } from "../support/tenancy.ts";
import { codeOf } from "../support/totp.ts";
import { useServer } from "../support/use.ts";
import { words } from "../support/words.ts";

const METRICS_TOKEN = "the-long-metrics-token-of-the-test";
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** The values of metrics, or the sums of those whose labels contain `labels`. */
async function metricsOf(names: string[], labels = ""): Promise<number[]> {
  const lines = (await server.metrics()).split("\n").filter((line) => line.includes(labels));
  return names.map((name) =>
    lines
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0),
  );
}
const metricOf = async (name: string, labels?: string) => (await metricsOf([name], labels))[0] as number;

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

const operator = api(server, OPERATOR_TOKEN);
const [noisy, quiet] = [await makeWorld(server, "noisy"), await makeWorld(server, "quiet")];
const usage = async (query = "") => ok(await operator.get(`/tenants/usage?${query}`));

// First: it is counted once a minute at most.
test("counts what is pending", async () => {
  const http = api(server, token);
  ok(await http.post(`/agents/${server.credentials.agent.id}/interests`, { event_type: "com.example.left" }));
  const began = Date.now();
  for (const id of ["a", "b"])
    await http.post("/events", { specversion: "1.0", id, type: "com.example.left", source: "/observed" });
  await settle(async () => (await http.get("/delivery/stats")).body.pending === 2);
  const { headers, body } = await api(server).get(`${server.root}/metrics`);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(body).toMatch(/^sensorium_deliveries_pending\{state="ready"\} 2$/m);
  expect(body).toMatch(/^sensorium_deliveries_pending\{state="leased"\} 0$/m);
  const oldest = Number(/^sensorium_deliveries_oldest_seconds\{state="ready"\} (.+)$/m.exec(body)?.[1]);
  expect(oldest).toBeGreaterThan(0);
  expect(oldest).toBeLessThanOrEqual((Date.now() - began) / 1000);
  await receive(http, 2);
});

describe("the use of tenants", () => {
  beforeAll(async () => {
    ok(await noisy.agent.post(`/agents/${noisy.agentId}/interests`, { event_type: "com.example.*" }));
    for (let n = 0; n < 20; n++) {
      const event = { specversion: "1.0", id: `e${n}`, type: "com.example.noise", source: "/noise" };
      ok(await noisy.agent.post("/events", event));
      ok(await noisy.agent.post("/memories/search", { query: `noise ${n}` }));
    }
    ok(await quiet.agent.get("/agents"));
  });

  test("is counted by tenant, and the noisy one is found by each kind", async () => {
    await settle(async () => (await usage("sort=events")).tenants[0].deliveries === 20);
    const { tenants, total } = await usage();
    const used = tenants.map(({ cpu_ms }: { cpu_ms: number }) => cpu_ms);
    expect([total, used]).toEqual([3, used.toSorted((a: number, b: number) => b - a)]);
    const first = tenants.find(({ slug }: { slug: string }) => slug === noisy.slug);
    expect(first).toMatchObject({
      ...{ id: noisy.tenant_id, slug: noisy.slug, status: "active" },
      ...{ events: 20, deliveries: 20, dead_letters: 0 },
    });
    expect(first.searches).toBeGreaterThanOrEqual(20);
    expect(first.requests).toBeGreaterThanOrEqual(41);
    expect(first.cpu_ms).toBeGreaterThan(0);
    const share = tenants.reduce((sum: number, each: { cpu_share: number }) => sum + each.cpu_share, 0);
    expect(share).toBeCloseTo(1);
    const other = tenants.find(({ slug }: { slug: string }) => slug === quiet.slug);
    expect(other).toMatchObject({ events: 0, deliveries: 0, searches: 0 });
    expect(other.requests).toBeLessThan(first.requests);
    for (const sort of ["requests", "events", "deliveries", "searches", "stored_bytes"])
      expect([sort, (await usage(`sort=${sort}&limit=1`)).tenants[0].slug]).toEqual([sort, noisy.slug]);
    expect((await usage("offset=2")).tenants).toHaveLength(1);
    expect((await usage("hours=24&sort=events")).tenants[0].events).toBe(20);
  });

  test("is sorted by what it has", () =>
    refused(operator.get("/tenants/usage?sort=name"), "validation_failed", "sort"));

  test("has its largest tenants in the metrics, and a label for none without any", async () => {
    const text = await settle(async () => {
      const lines = String((await api(server).get(`${server.root}/metrics`)).body).split("\n");
      const own = lines.filter((line) => line.startsWith("sensorium_top_tenants_events{"));
      return own.length > 0 && own;
    });
    expect(text).toContain(`sensorium_top_tenants_events{tenant="${noisy.slug}"} 20`);
    expect(text.join()).not.toContain(quiet.slug);
  });
});

const limitOf = async (world: World["agent"]) =>
  Number((await world.get("/limits")).headers.get("x-ratelimit-limit"));

test("limits of requests of a tenant are the operator's, and need no restart", async () => {
  const path = `/tenants/${quiet.tenant_id}`;
  expect(ok(await operator.patch(path, { requests_per_minute: 50 }))).toMatchObject({
    requests_per_minute: 50,
  });
  await settle(async () => (await limitOf(quiet.admin)) === 50);
  expect(ok(await quiet.admin.get("/limits")).requests_per_minute).toMatchObject({ tenant: 50 });
  expect(await limitOf(noisy.agent)).toBe(0);
  ok(await operator.patch(path, { status: "active" }));
  expect(await limitOf(quiet.admin)).toBe(50);
  expect(ok(await operator.patch(path, { requests_per_minute: null })).requests_per_minute).toBeNull();
  await settle(async () => (await limitOf(quiet.admin)) === 0);
});

test("limits of requests of a key hold for it and its tokens, and for no other key", async () => {
  const keys = `/agents/${noisy.agentId}/keys`;
  const made = ok(await noisy.admin.post(keys, { scopes: ["send"], requests_per_minute: 40 }));
  expect(made.requests_per_minute).toBe(40);
  const own = api(server, made.key);
  expect(await limitOf(own)).toBe(40);
  const { access_token } = ok(await api(server).post("/auth/token", { api_key: made.key }));
  expect(await limitOf(api(server, access_token))).toBe(40);
  expect(await limitOf(noisy.agent)).toBe(0);
  const changed = ok(await noisy.admin.patch(`${keys}/${made.id}`, { requests_per_minute: 2 }));
  expect(changed).toMatchObject({ id: made.id, requests_per_minute: 2 });
  await settle(async () => (await own.get("/limits")).status === 429);
  await refused(own.get("/limits"), "rate_limited", { limit: 2 });
  ok(await noisy.admin.patch(`${keys}/${made.id}`, { requests_per_minute: null }));
  await settle(async () => (await own.get("/limits")).status === 200);
  expect(await limitOf(own)).toBe(0);
  const { keys: listed } = ok(await noisy.admin.get(keys));
  expect(listed[0]).toMatchObject({ id: made.id, requests_per_minute: null });
});

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
    const read = () => metricsOf(names);
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
    const before = await metricOf("sensorium_deliveries_handed_out_total");
    ok(await admin.patch(`/agents/${reader.id}`, { team_id: null }));
    expect(await receive(reader, 0)).toEqual([]);
    expect(await pending()).toBe(0);
    expect(await metricOf("sensorium_deliveries_handed_out_total")).toBe(before);
  });

  test("counts nacks, dead letters and what is pending", async () => {
    const http = api(server, token);
    const { body: agent } = await http.post("/agents", { name: "short of patience", delivery_mode: "poll" });
    await http.patch(`/agents/${agent.id}`, { retry_budget: 1 });
    const { body: key } = await http.post(`/agents/${agent.id}/keys`, { scopes: ["receive"] });
    const receiver = api(server, await agentToken(server, key.key));
    await receiver.post(`/agents/${agent.id}/interests`, { event_type: "com.example.refused" });
    const names = ["sensorium_deliveries_nacked_total", "sensorium_deliveries_dead_lettered_total"];
    const counts = () => metricsOf(names);
    const before = await counts();
    await http.post("/events", { ...event("refused"), type: "com.example.refused" });
    const { body } = await receiver.get("/delivery/poll?wait=30");
    await receiver.post("/delivery/nack", { delivery_ids: [body.deliveries[0].id], reason: "no" });
    await settle(async () => (await counts()).every((count, i) => count === (before[i] as number) + 1));
  });

  test("measures requests by operation and class of status, and the store's commits", async () => {
    const name = "sensorium_http_request_duration_seconds_count";
    const read = () => metricOf(name, 'operation="events.publish",status="4xx"');
    const before = await read();
    expect((await api(server, token).post("/events", {})).status).toBe(400);
    // Counted when the answer has gone, which its caller may have before.
    await settle(async () => (await read()) === before + 1);
    const store = ["sensorium_store_commit_seconds_count", "sensorium_store_operations_total"];
    for (const name of [...store, "process_resident_memory_bytes"])
      expect([name, (await metricOf(name)) > 0]).toEqual([name, true]);
    expect(await metricOf("nodejs_eventloop_lag_seconds")).toBeGreaterThanOrEqual(0);
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
    const person = api(server, login.body.access_token);
    const { secret } = ok(await person.post("/auth/totp", { password: admin.password }));
    const { recovery_codes } = ok(await person.post("/auth/totp/confirm", { code: codeOf(secret) }));
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
      ...[login.body.access_token, secret, ...recovery_codes],
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

describe("a node whose disk is nearly full, and which has a metrics token", () => {
  let dataDir: string;
  let child: Child;
  let server: Pick<TestServer, "url" | "root">;
  let credentials: Credentials;
  beforeAll(async () => {
    dataDir = await ownFolder();
    const { PATH = "" } = process.env;
    // No disk has as much free as this asks for.
    const env = { PATH, PORT: "0", DATA_DIR: dataDir, METRICS_TOKEN, MIN_FREE_DISK_MB: "1000000000" };
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

  test.each<[string, string | undefined, number]>([
    ["without", undefined, 401],
    ["with another than", "wrong", 401],
    ["with", METRICS_TOKEN, 200],
  ])("answers for its metrics %s its token", async (_what, token, status) =>
    expect((await api(server, token).get(`${server.root}/metrics`)).status).toBe(status),
  );
});
