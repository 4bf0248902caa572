/** @needs mongodb, nats: what nodes show and log while NATS is stuck or gone, and what holds on every node all the same. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { INSTALLED } from "../../services/extensions.ts";
import { cloudEvent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { type Answer, api } from "../support/http.ts";
import { onNodes } from "../support/on-nodes.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

await onNodes("a gateway and a whole node without NATS", 1, {}, ({ nodes, admin }) => {
  let whole: TestServer;
  let servers: TestServer[];

  beforeAll(async () => {
    whole = await nodes.addServer();
    servers = [nodes.gateway, whole];
    await settle(async () => (await peers()).every((count) => count === 2), { what: "nodes to meet" });
  });

  const metric = async (server: TestServer, name: string) => {
    const lines = (await server.metrics()).split("\n");
    return Number(lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1]);
  };
  const peers = () =>
    Promise.all(servers.map((server) => metric(server, 'sensorium_peers{state="available"}')));
  const connected = () => Promise.all(servers.map((server) => metric(server, "sensorium_nats_connected")));
  const readiness = async (server: TestServer) => {
    const { status, body } = await api(server).get(`${server.root}/readyz`);
    return { status, nats: body.checks.nats, services: body.checks.services };
  };
  /** Lines of the log since `from` characters, each parsed. */
  const linesOf = (server: TestServer, from: number) =>
    server
      .logs()
      .slice(from)
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));

  test("name it in readiness, metrics and one line each, and log little else", async () => {
    expect(await connected()).toEqual([1, 1]);
    expect(await readiness(whole)).toEqual({ status: 200, nats: "ok", services: "ok" });
    const before = servers.map((server) => server.logs().length);

    await nodes.nats.kill();
    await settle(async () => (await connected()).join() === "0,0", { what: "the loss to be noticed" });
    await settle(async () => (await peers()).join() === "0,0", { what: "the others to be missed" });
    // Callers go on, and get an error each.
    for (let i = 0; i < 200; i++) expect((await admin.get("/auth/me")).status).toBe(503);

    const lost = expect.stringMatching(/^not connected for \d+ s: this node reaches no other$/);
    expect(await readiness(whole)).toEqual({ status: 200, nats: lost, services: "ok" });
    expect(await readiness(nodes.gateway)).toMatchObject({
      ...{ status: 503, nats: lost, services: expect.stringContaining("no node runs") },
    });
    for (const [i, server] of servers.entries()) {
      const lines = linesOf(server, before[i] as number);
      expect(lines.filter(({ msg }) => /NATS is lost/.test(msg))).toHaveLength(1);
      expect(lines.filter(({ route }) => route === "/readyz")).toEqual([]);
      expect(lines.length).toBeLessThan(30);
    }
    expect(
      await metric(nodes.gateway, 'sensorium_log_lines_suppressed_total{level="error"}'),
    ).toBeGreaterThan(100);

    await nodes.nats.start();
    await settle(async () => (await connected()).join() === "1,1", { what: "the connections to be back" });
    await settle(async () => (await peers()).join() === "2,2", { what: "the nodes to meet again" });
    await settle(async () => (await admin.get("/auth/me")).status === 200);
    for (const [i, server] of servers.entries()) {
      const transitions = linesOf(server, before[i] as number).filter(({ msg }) => /^NATS is /.test(msg));
      expect(transitions).toMatchObject([{ level: "warn" }, { level: "info", msg: "NATS is back" }]);
      expect(await metric(server, "sensorium_nats_disconnects_total")).toBe(1);
    }
  });

  test("every line names the node and its instance, which differ between nodes", () => {
    const identities = servers.map((server) => {
      const lines = linesOf(server, 0);
      expect(lines.length).toBeGreaterThan(0);
      const names = new Set(lines.map(({ node, instance }) => `${node} ${instance}`));
      expect(names.size).toBe(1);
      return [...names][0];
    });
    expect(identities[0]).toMatch(/^\S+-\d+ [0-9a-f-]{36}$/);
    expect(new Set(identities).size).toBe(2);
  });

  test("the metrics are those of the reference, which has all that the guide names", async () => {
    const read = (page: string) => readFile(join(import.meta.dirname, "../../docs", page), "utf8");
    const listed = [...(await read("reference/metrics.md")).matchAll(/^\| `(sensorium_\w+)`/gm)];
    const names = new Set(listed.map(([, name]) => name as string));
    const shown = [...(await whole.metrics()).matchAll(/^# TYPE (sensorium_\w+) /gm)];
    // This node has no Redis and no embedded store, and need not use what extensions measure.
    const ofExtensions = INSTALLED.flatMap(({ gauges = [] }) =>
      gauges.map(({ name }) => `sensorium_${name}`),
    );
    const others = ["sensorium_limits_shared", "sensorium_store_bytes", ...ofExtensions];
    expect(new Set([...shown.map(([, name]) => name), ...others])).toEqual(names);
    const guide = [...(await read("guides/operate.md")).matchAll(/sensorium_[a-z_]*[a-z]/g)];
    const unknown = guide.filter(([name]) => !names.has(name.replace(/_bucket$/, "")));
    expect(unknown.map(([name]) => name)).toEqual([]);
  });

  test("metrics show the record's latency, its connections, breakers, bulkheads and the fan-out queue", async () => {
    const text = await whole.metrics();
    for (const name of [
      'record_command_duration_seconds_count{command="find",outcome="ok"}',
      'record_connections{state="idle"}',
      "record_connections_limit",
      ...["record_connection_wait_seconds_count", "bulkhead_limit", "clock_error_seconds"],
    ])
      expect(Number(text.split(`\nsensorium_${name} `)[1]?.split("\n")[0])).toBeGreaterThan(0);
    for (const name of [
      'record_connections{state="used"}',
      "record_connections_waiting",
      ...['circuit_breakers{state="open"}', 'circuit_breakers{state="half_open"}', "fan_out_queue_events"],
      ...["fan_out_queue_bytes", "fan_out_batches", "fan_out_spilled_tenants", "peer_calls_in_flight"],
    ])
      expect(text).toMatch(new RegExp(`^sensorium_${RegExp.escape(name)} \\d+$`, "m"));
  });
});

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
