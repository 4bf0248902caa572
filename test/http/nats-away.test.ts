/** @needs mongodb, nats: what nodes show while NATS is gone, and how much they log meanwhile. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { INSTALLED } from "../../services/extensions.ts";
import { api } from "../support/http.ts";
import { onNodes } from "../support/on-nodes.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";

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
