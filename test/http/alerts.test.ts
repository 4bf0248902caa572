/**
 * @needs mongodb, nats, redis, prometheus: each alert is fired by its fault. Prometheus evaluates the rules on what
 * `/metrics` returned before and during the fault.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { alerts } from "../../docs/generate/monitoring/alerts.ts";
import { dashboards } from "../../docs/generate/monitoring/dashboards.ts";
import { metrics } from "../../observability/metrics.ts";
import { cloudEvent, firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import { startChild } from "../support/child.ts";
import { makeDeadLetters } from "../support/dead-letters.ts";
import { startMongo } from "../support/mongo.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import { onPath } from "../support/needs.ts";
import { freePort } from "../support/ports.ts";
import {
  checkRules,
  expectFiring,
  type Phase,
  promtool,
  RULES,
  selectorsOf,
  seriesOf,
} from "../support/prometheus.ts";
import { startProxy, type TcpProxy } from "../support/proxy.ts";
import { newReceiver } from "../support/receiver.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import type { TestServer } from "../support/server.ts";
import { serving } from "../support/serving.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const mongo = await startMongo();
const here = "url" in mongo && mongo.kind !== "MONGO_URL" && onPath("promtool");
/** A metric of prom-client. */
type Declared = { name: string; labelNames: string[] };

const withAll = here ? describe : describe.skip;

async function metric(server: TestServer, series: string): Promise<number> {
  const line = (await server.metrics()).split("\n").find((line) => line.startsWith(`${series} `));
  return Number(line?.split(" ")[1]);
}

/** How many commands of a node to MongoDB took longer than half a second. */
async function slowCommands(server: TestServer): Promise<number> {
  const name = "sensorium_record_command_duration_seconds";
  const sum = (series: RegExp, text: string) =>
    [...text.matchAll(series)].reduce((all, [, value]) => all + Number(value), 0);
  const text = await server.metrics();
  const fast = sum(new RegExp(`^${name}_bucket\\{.*le="0.5".*\\} (\\S+)$`, "gm"), text);
  return sum(new RegExp(`^${name}_count\\{.*\\} (\\S+)$`, "gm"), text) - fast;
}

withAll("alerts of a node of a cluster", () => {
  let proxy: TcpProxy;
  let nats: NatsServer;
  let redis: RedisServer;
  let collector: { url: string; close(): Promise<void> };
  let server: TestServer;
  let admin: TestAgent;
  let healthy: Phase;
  let embeddedScrape: string;
  /** All that was seen: some series appear with their fault. */
  const scrapes: string[] = [];

  beforeAll(async () => {
    const url = new URL("url" in mongo ? mongo.url : "");
    proxy = await startProxy(Number(url.port));
    url.port = String(proxy.port);
    [nats, redis] = await Promise.all([startNats(), startRedis()]);
    collector = await serving((req, res) => req.resume().on("end", () => res.end("{}")));
    server = await startAlone({
      env: {
        ...{ MONGO_URL: url.href, SECRET_KEY: randomBytes(32).toString("base64"), NATS_URL: nats.url },
        ...{ REDIS_URL: redis.url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
        CONNECTOR_ALLOW_PRIVATE: "true",
      },
    });
    admin = await firstAgent(server);
    const embedded = await startAlone();
    embeddedScrape = await embedded.metrics();
    await embedded.stop();
    const from = await server.metrics();
    await work();
    // On a busy machine, Redis may not have answered in time at first.
    const shared = async () => {
      const to = await server.metrics();
      return /^sensorium_limits_shared\{by="redis"\} 1$/m.test(to) && to;
    };
    healthy = { from, to: await settle(shared) };
  });
  afterAll(async () => {
    proxy?.mend();
    await server?.stop();
    await Promise.all([proxy?.stop(), nats?.stop(), redis?.stop(), collector?.close().catch(() => {})]);
    if ("url" in mongo) await mongo.stop();
  });

  async function work(): Promise<void> {
    const ask = async () => {
      await admin.get("/auth/me");
      await admin.post("/events", cloudEvent(`${randomBytes(4).toString("hex")}`));
    };
    await Promise.all(Array.from({ length: 5 }, ask));
  }
  /** One of all that a tenant's use counts. */
  async function use(): Promise<void> {
    const strict = await newAgent(server, admin);
    ok(await admin.patch(`/agents/${strict.id}`, { retry_budget: 1 }));
    ok(await strict.post(`/agents/${strict.id}/interests`, { event_type: "com.dead" }));
    await makeDeadLetters(strict, "com.dead", ["broken"]);
    ok(await admin.post("/memories/search", { query: "cups" }));
  }

  /** Counts are shown a minute later. */
  function metricsOfUse(): Promise<string> {
    const all = async () => {
      const text = await server.metrics();
      const kinds = ["requests", "events", "deliveries", "searches", "cpu_ms", "stored_bytes"];
      return kinds.every((kind) => text.includes(`sensorium_top_tenants_${kind}{`)) && text;
    };
    return settle(all, { within: 75_000, every: 500 });
  }

  /** Events from now on. */
  async function during(happens: () => Promise<unknown>): Promise<Phase> {
    const from = await server.metrics();
    await happens();
    const to = await server.metrics();
    scrapes.push(to);
    return { from, to };
  }

  test("are valid rules, and none fires while all is well", async () => {
    await promtool("check", "rules", RULES);
    await expectFiring(healthy, healthy, []);
  });

  test("NATS is lost", async () => {
    await nats.kill();
    await settle(async () => (await metric(server, "sensorium_nats_connected")) === 0);
    const faulty = await during(work);
    await nats.start();
    await settle(async () => (await metric(server, "sensorium_nats_connected")) === 1);
    await expectFiring(healthy, faulty, ["SensoriumNatsDisconnected"]);
  });

  test("Redis is lost", async () => {
    await redis.kill();
    const shared = () => metric(server, 'sensorium_limits_shared{by="redis"}');
    await settle(async () => (await admin.get("/auth/me")) && (await shared()) === 0);
    const faulty = await during(work);
    await redis.start();
    await settle(async () => (await shared()) === 1);
    await expectFiring(healthy, faulty, ["SensoriumLimitsNotShared"]);
  });

  test("a connector's broker does not answer", async () => {
    const mapping = { entity: "order", action: "/what", id: "/id", subject: "/for", data: "/data" };
    const url = `amqp://127.0.0.1:${await freePort()}`;
    const body = { name: "Shop", kind: "amqp091", url, source: "Shop", mapping, queue: "orders" };
    const { id } = ok(await admin.post("/ingest/connectors", body));
    await settle(async () => /_connectors\{state="retrying"\} 1/.test(await server.metrics()));
    const faulty = await during(work);
    ok(await admin.del(`/ingest/connectors/${id}`));
    await settle(async () => !/_connectors\{state=/.test(await server.metrics()));
    await expectFiring(healthy, faulty, ["SensoriumConnectorNotConsuming"]);
  });

  test("MongoDB is so far that its time is not known well, then farther", async () => {
    const url = new URL("url" in mongo ? mongo.url : "");
    const far = await startProxy(Number(url.port));
    far.delayAnswers(230);
    url.port = String(far.port);
    url.pathname += "_far";
    const env = { MONGO_URL: url.href, SECRET_KEY: randomBytes(32).toString("base64") };
    const node = await startAlone({ env });
    far.delayAnswers(700);
    // The answers that were on their way have come when the first later one has.
    const late = await settle(async () => await slowCommands(node));
    const from = await node.metrics();
    await settle(async () => (await slowCommands(node)) >= late + 3);
    const to = await node.metrics();
    await node.kill();
    await node.stop();
    await far.stop();
    const faulty = { from, to, isTimed: true };
    await expectFiring(healthy, faulty, ["SensoriumClockUncertain", "SensoriumMongoSlow"]);
  });

  test("MongoDB is lost", async () => {
    proxy.cut();
    await settle(async () => (await admin.get("/agents")).status === 503);
    await settle(async () => (await metric(server, "sensorium_ready")) === 0);
    const faulty = await during(work);
    proxy.mend();
    await settle(async () => (await admin.get("/agents")).status === 200);
    await expectFiring(healthy, faulty, [
      ...["SensoriumDown", "SensoriumMongoUnavailable", "SensoriumNodeNotReady", "SensoriumRequestsFailing"],
    ]);
  });

  test("the collector of traces is lost", async () => {
    await collector.close();
    const faulty = await during(() =>
      settle(async () => {
        await admin.get("/auth/me");
        return (await metric(server, "sensorium_trace_spans_lost_total")) > 0;
      }),
    );
    await expectFiring(healthy, faulty, ["SensoriumTracesLost"]);
  });

  // The rest is what no test can cause in its time: the real series, with values of a fault.
  test.each([
    ["SensoriumFanOutBehind", "sensorium_fan_out_spilled_tenants", 1],
    ["SensoriumEventsParked", "sensorium_events_parked_total", 1],
  ])("%s fires by %s at %d", async (alert, series, value) => {
    const line = new RegExp(`^${series} \\S+$`, "m");
    expect(healthy.to).toMatch(line);
    const to = (healthy.to as string).replace(line, `${series} ${value}`);
    await expectFiring(healthy, { ...healthy, to }, [alert]);
  });

  test("the commands of the runbooks run", async () => {
    const origin = server.root;
    const env = {
      ...{ PATH: process.env.PATH, url: server.url, origin, auth: `Authorization: Bearer ${admin.token}` },
    };
    const folder = join(import.meta.dirname, "../../docs/runbooks");
    for (const { runbook: name } of alerts) {
      const page = await readFile(join(folder, `${name}.md`), "utf8");
      for (const [, block = ""] of page.matchAll(/^```sh\n(.*?)^```$/gms)) {
        const child = await startChild("bash", ["-euo", "pipefail", "-c", block], { env });
        const { code } = await child.exited;
        expect([name, code, child.output()]).toEqual([name, 0, expect.stringMatching(/\S/)]);
      }
    }
  });

  test("every query of rules and dashboards is valid and reads metrics and labels that exist", async () => {
    await use();
    scrapes.push(await metricsOfUse());
    const text = [...scrapes, healthy.to, embeddedScrape].join("\n");
    const declared = Object.values(metrics) as unknown as Declared[];
    const labels = new Map(declared.map(({ name, labelNames }) => [name, new Set(labelNames)]));
    for (const series of seriesOf(text).keys()) {
      const [, metric = "", list = ""] = /^(\w+)\{(.*)\}$/.exec(series) ?? [];
      const known = labels.get(metric) ?? new Set();
      for (const [, label] of list.matchAll(/(\w+)="/g)) known.add(label as string);
      labels.set(metric, known.add("instance").add("job"));
    }
    const panels = dashboards.flatMap(({ rows }) => Object.values(rows).flat());
    const queries = [
      ...alerts.map(({ expr }) => expr),
      ...panels.flatMap((each) => Object.values(each.queries)),
    ];
    const unknown = queries.flatMap((expr) =>
      selectorsOf(expr)
        .filter(({ metric, labels: used }) => !used.every((label) => labels.get(metric)?.has(label)))
        .map((selector) => ({ expr, ...selector })),
    );
    expect(unknown).toEqual([]);
    expect(queries.filter((expr) => selectorsOf(expr).length === 0)).toEqual([]);
    const inFive = (expr: string) => expr.replaceAll("$__rate_interval", "5m");
    const rules = queries.map((expr, i) => ({ record: `query:${i}`, expr: inFive(expr) }));
    await checkRules({ groups: [{ name: "queries", rules }] });
  });

  test("the node is killed", async () => {
    await server.kill();
    await expectFiring(healthy, { from: null, to: null }, ["SensoriumDown", "SensoriumNodeDown"]);
    await server.restart();
  });
});

(onPath("promtool") ? describe : describe.skip)("alerts of a node with the embedded store", () => {
  let dataDir: string;
  let server: TestServer;
  let admin: TestAgent;
  let healthy: Phase;
  const free = async () => {
    const { bavail, bsize } = await statfs(dataDir);
    return (bavail * bsize) / 1e6;
  };

  beforeAll(async () => {
    // A disk that no other program fills meanwhile, where there is one.
    dataDir = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sensorium-alerts-"));
    server = await startAlone({ env: { RATE_LIMIT_PER_MINUTE: "0" }, dataDir });
    admin = await firstAgent(server);
    healthy = { from: await server.metrics(), to: await server.metrics() };
  });
  afterAll(async () => {
    await server?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("the disk is nearly full", async () => {
    await server.end();
    const MIN_FREE_DISK_MB = String(Math.floor((await free()) * 0.75));
    const full = await startAlone({ env: { MIN_FREE_DISK_MB }, dataDir });
    const scrape = await full.metrics();
    await full.end();
    await server.restart();
    await expectFiring(healthy, { from: scrape, to: scrape }, ["SensoriumDiskNearlyFull"]);
  });

  test("a receiver refuses until its deliveries are dead-lettered", async () => {
    const receiver = await newReceiver(server, admin, "refusing", { interests: ["com.example.refused"] });
    await admin.patch(`/agents/${receiver.id}`, { retry_budget: 1 });
    const from = await server.metrics();
    ok(await admin.post("/events", cloudEvent("refused", { type: "com.example.refused" })));
    const { deliveries } = ok(await receiver.api.get("/delivery/poll?wait=30"));
    ok(await receiver.api.post("/delivery/nack", { delivery_ids: [deliveries[0].id], reason: "no" }));
    await settle(async () => (await metric(server, "sensorium_deliveries_dead_lettered_total")) === 1);
    const faulty = { from, to: await server.metrics() };
    await expectFiring(healthy, faulty, ["SensoriumDeliveriesDeadLettered"]);
  });

  test("a receiver that is away has more and more deliveries", async () => {
    const receiver = await newReceiver(server, admin, "away", { interests: ["com.example.left"] });
    const one = (i: number) => cloudEvent(`left-${i}`, { type: "com.example.left" });
    for (let i = 0; i < 1100; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, k) => admin.post("/events", one(i + k)).then(ok)));
    await settle(async () => ok(await receiver.api.get("/delivery/stats")).pending === 1100);
    // They are counted once a minute.
    await server.restart();
    const to = await server.metrics();
    const faulty = { from: to.replace('{state="ready"} 1100', '{state="ready"} 1000'), to };
    await expectFiring(healthy, { ...faulty, rising: ["sensorium_deliveries_pending"] }, [
      "SensoriumDeliveriesDelayed",
    ]);
  });
});
