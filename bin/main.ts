import { ServiceBroker, type ServiceSchema } from "moleculer";
import { ConfigError, shortSecrets } from "../config.ts";
import { NatsError, requireMaxPayload } from "../connectors/nats.ts";
import type { SharedWindows } from "../connectors/redis.ts";
import { hashApiKey } from "../lib/access/api-key.ts";
import { FinishedCalls } from "../lib/broker/between-nodes.ts";
import { openSecretBox, SecretError } from "../lib/crypto/secrets.ts";
import { selectNames } from "../lib/settings.ts";
import { brokerOptions } from "../moleculer.config.ts";
import type { Log } from "../observability/log.ts";
import { observeGauge, observeValue } from "../observability/metrics.ts";
import { monitorServer } from "../services/edge/gateway/observe/monitor.ts";
import { type HttpServer, ListenError } from "../services/edge/gateway/server.ts";
import { readAllSettings, requireExtensions } from "../services/extensions.ts";
import { SecretKeys, showKeys } from "../services/identity/rotation/secret-keys.ts";
import { type Credentials, ensureFirstTenant } from "../services/identity/tenants/first-start.ts";
import { CORE_SERVICES, hooksOf, serviceFactories } from "../services/index.ts";
import { MODELS } from "../services/models.ts";
import { newHostResolver } from "../services/outgoing.ts";
import { nodesService } from "../services/platform/nodes/nodes.service.ts";
import { type Observability, startObservability } from "../services/platform/system/observability.ts";
import { Traffic } from "../services/platform/usage/traffic.ts";
import { StorageUsage } from "../services/platform/usage/usage.ts";
import type { Runtime } from "../services/runtime.ts";
import { guardBlobs } from "../storage/blobs/guarded.ts";
import { openBlobs } from "../storage/blobs/open.ts";
import { openStore, type Store, StoreError } from "../storage/connection.ts";
import { RECOVERY } from "../storage/data-directory.ts";
import { isStoreDamaged, isStoreLost, isSystemic, untilAvailable } from "../storage/store-lost.ts";

const POLL_MS = 200;
/** A little less than a check may take (observability/health.ts), so that it says why. */
const VERIFIED_MS = 1800;

/**
 * Starts a node, prints its address, and stops it on SIGTERM or SIGINT. With `--migrate` only brings the record to this
 * version, which every start does: before a rollout, so that no node waits for an index.
 */
async function main(): Promise<void> {
  // Keeps the data private to this user, whatever the folder. SQLite's files follow the umask.
  process.umask(0o077);
  // Their reader may leave, and their disk may be full.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  requireExtensions();
  const config = readAllSettings();
  // There is no log yet.
  const store = await openStore(config, (reason) =>
    process.stderr.write(`Waiting for the database: ${reason}\n`),
  );
  const secrets = await openSecretBox(config);
  const observability = await startObservability(config, store);
  for (const warning of shortSecrets()) observability.log.error(warning);
  store.onFatal((err) => {
    observability.log.fatal({ err }, "the store failed");
    endWith(err);
  });
  const windows = config.REDIS_URL ? await shareWindows(config.REDIS_URL, observability) : null;
  const files = await openBlobs(store, config, MODELS, (err) =>
    observability.log.warn({ err }, "unused blobs were not deleted; a sweep retries"),
  );
  const usage = new StorageUsage({ store, blobs: files, defaultMb: config.TENANT_STORAGE_MB });
  const traffic = new Traffic(store, config);
  const blobs = guardBlobs(files, [usage.claim, () => observability.disk.claim()]);
  const resolver = newHostResolver(config.DNS_SERVERS);
  const parts = { config, store, blobs, usage, traffic, secrets, resolver, windows, ...observability };
  const runtime: Runtime = { ...parts, hooks: await hooksOf(parts) };
  const calls = new FinishedCalls();
  const broker = new ServiceBroker(
    brokerOptions(config, observability, { calls, tracing: runtime.hooks.tracing }),
  );
  for (const name of selectNames("SERVICES", config.SERVICES, Object.keys(serviceFactories))) {
    for (const create of serviceFactories[name] ?? [])
      broker.createService(startingPatiently(create(runtime), runtime));
  }
  broker.createService(nodesService(runtime));
  const { log } = runtime;
  await store.ready((reason) => log.warn(`waiting for the database: ${reason}`));
  if (process.argv.includes("--migrate")) return endMigration(store);
  showKeys(broker, secrets);
  await whenAvailable(log, "the secret keys", () => new SecretKeys(runtime).require());
  usage.start((err) => observability.log.warn({ err }, "storage usage could not be measured"));
  traffic.start((err) => observability.log.warn({ err }, "some counts of traffic were lost"));
  const monitor = broker.getLocalService("gateway") ? null : monitorServer(runtime);
  stopOnSignals({ broker, runtime, monitor, calls });
  let isStarting = true;
  // The gateway answers before the first tenant and its credentials are created, which readiness includes.
  observability.health.add("start", () => (isStarting ? "under way" : null));
  await monitor?.listen(config.PORT, config.HOST);
  await broker.start();
  requireMaxPayload(broker);
  if (config.NATS_URL && !config.MONGO_URL)
    observability.log.warn(
      "NATS_URL without MONGO_URL: this node has its own database, which other nodes do not share",
    );
  await waitForCore(broker, runtime);
  if (!monitor) await announce(broker, runtime);
  else process.stdout.write(`Sensorium's services are ready: ${monitor.origin}/readyz\n`);
  isStarting = false;
}

/** Has a service wait where it meets a busy database when it starts. */
function startingPatiently(schema: ServiceSchema, { log }: Runtime): ServiceSchema {
  const { started } = schema;
  if (typeof started !== "function") return schema;
  return {
    ...schema,
    started() {
      return whenAvailable(log, `the start of ${schema.name}`, async () => started.call(this));
    },
  };
}

/** Waits while the database, or a service, is busy or away. */
function whenAvailable<T>(log: Log, what: string, step: () => Promise<T>): Promise<T> {
  return untilAvailable(step, (err) => log.warn({ err }, `waiting for the database: ${what}`), isSystemic);
}

async function endMigration(store: Store): Promise<never> {
  await store.close();
  process.stdout.write("The record has all indexes of this version.\n");
  process.exit(0);
}

/** Shares rate limits among all nodes. Without Redis the node still serves, and reports that it counts alone. */
async function shareWindows(url: string, { health, log }: Observability): Promise<SharedWindows> {
  // Loaded on demand: a single node does not need the Redis client.
  const { SharedWindows } = await import("../connectors/redis.ts");
  const windows = new SharedWindows(url, {
    windowMs: 60_000,
    report: (lost) =>
      lost
        ? log.warn({ lost }, "Redis is unavailable: this node counts rate limits alone")
        : log.info("Redis is available: rate limits are shared"),
  });
  health.remark("redis", () => (windows.lost ? "not in use: this node counts rate limits alone" : null));
  observeGauge("limits_shared", async () => ({
    redis: windows.lost === null ? 1 : 0,
  }));
  return windows;
}

/** Waits until the core services are on some node; nodes discover each other gradually. Shows which others are missing. */
async function waitForCore(broker: ServiceBroker, { health, log }: Runtime): Promise<void> {
  const missing = (names: readonly string[]) => {
    const running = new Set(broker.registry.getServiceList({ onlyAvailable: true }).map(({ name }) => name));
    return names.filter((name) => !running.has(name));
  };
  const others = Object.keys(serviceFactories).filter(
    (name) => name !== "gateway" && !CORE_SERVICES.includes(name),
  );
  const reasonOf = (names: readonly string[]) =>
    missing(names).length ? `no node runs ${missing(names).join(", ")}` : null;
  health.add("services", () => reasonOf(CORE_SERVICES));
  health.remark("other_services", () => reasonOf(others));
  health.add("requests", () => whyNoRequests(broker));
  observeValue("services_missing", () => missing([...CORE_SERVICES, ...others]).length);
  if (missing(CORE_SERVICES).length)
    log.warn({ services: missing(CORE_SERVICES) }, "waiting for other nodes");
  await broker.waitForServices(CORE_SERVICES, 0, POLL_MS);
  const absent = missing(others);
  if (absent.length)
    log.warn({ services: absent }, "no node runs these services: what needs them gets 503 until one does");
}

const NOBODY = hashApiKey("the API key of nobody");

/** Takes the way of a request: to a node that knows its caller, and to the record. Returns what is wrong with it. */
async function whyNoRequests(broker: ServiceBroker): Promise<string | null> {
  const verified = broker.call("auth.verify_keys", { hashes: [NOBODY] }, { timeout: VERIFIED_MS });
  return verified.then(
    () => null,
    () => "callers cannot be verified",
  );
}

async function announce(broker: ServiceBroker, runtime: Runtime): Promise<void> {
  const { config } = runtime;
  const { origin } = (await broker.call("gateway.address", {}, { nodeID: broker.nodeID })) as {
    origin: string;
  };
  const publicOrigin = config.PUBLIC_URL?.replace(/\/$/, "") ?? origin;
  const start = { broker, runtime, baseUrl: `${publicOrigin}/v1`, ingestUrl: publicOrigin };
  const first = await whenAvailable(runtime.log, "the first tenant", () => ensureFirstTenant(start));
  const record = config.MONGO_URL ? "MongoDB" : `the embedded store in ${config.DATA_DIR}`;
  process.stdout.write(
    `${first ? firstStart(first, config.DATA_DIR) : ""}Sensorium is ready: ${publicOrigin}/v1 (on ${record})\n`,
  );
}

function firstStart({ admin, agent, tenant_slug }: Credentials, dataDir: string): string {
  return `First start: created tenant "${tenant_slug}". Its credentials, shown once (and kept in ${dataDir}/credentials.json):
  admin      ${admin.email}  ${admin.password}
  agent key  ${agent.api_key}
`;
}

/** SIGTERM stops the node after `DRAIN_SECONDS`, SIGINT at once, even during these. */
function stopOnSignals(node: Node): void {
  const { broker, runtime } = node;
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await stopNode(node);
  };
  const { DRAIN_SECONDS } = runtime.config;
  process.on("SIGINT", stop);
  process.on("SIGTERM", () => {
    markStopping(runtime);
    if (DRAIN_SECONDS === 0) return void stop();
    runtime.log.info(`serving for another ${DRAIN_SECONDS} s, then stopping`);
    broker.broadcastLocal("node.draining");
    setTimeout(stop, DRAIN_SECONDS * 1000);
  });
}

/** Ends the process; what an operator can act on is one sentence. */
function endWith(err: unknown): never {
  const kinds = [ConfigError, StoreError, ListenError, SecretError, NatsError];
  const { message, stack } = err as Error;
  const lost = isStoreLost(err) && `The database cannot be reached or written to: ${message}`;
  const damaged = isStoreDamaged(err) && `The database in DATA_DIR is damaged (${message}). ${RECOVERY}.`;
  const expected = kinds.some((kind) => err instanceof kind) && message;
  process.stderr.write(`${expected || lost || damaged || stack}\n`);
  process.exit(1);
}

main().catch(endWith);

/** A stop without progress is given up after this long, counted in looks: a node that gets no processor is not stuck. */
const STALL_MS = 5000;
/** How long calls that other nodes never answer may hold it up, both those from here and those to here. */
const ANSWERS_MS = 2000;
const LOOK_MS = 100;

/** The parts that run in this process. */
interface Node {
  broker: ServiceBroker;
  runtime: Runtime;
  /** The server of the metrics of a node without a gateway. */
  monitor: HttpServer | null;
  calls: FinishedCalls;
}

function markStopping({ health }: Runtime): void {
  health.add("node", () => "shutting down");
}

/**
 * Finishes what is under way and ends the process: with 1 if that makes no progress for 5 s, or takes longer than
 * `SHUTDOWN_SECONDS`. Progress is that a call has finished, or a step.
 */
async function stopNode({ broker, runtime, monitor, calls }: Node): Promise<never> {
  markStopping(runtime);
  let inProgress = "";
  const giveUp = giveUpWithoutProgress(runtime, calls, () => inProgress);
  const step = async (what: string, run: () => unknown) => {
    inProgress = what;
    await run();
  };
  // Before the servers wait for their connections.
  await step("answering waiting polls and closing streams", () => broker.broadcastLocal("node.stopping"));
  broker.options.tracking = { enabled: true, shutdownTimeout: ANSWERS_MS };
  await step("ending services", () => broker.stop());
  await step("closing the monitoring port", () => monitor?.close());
  runtime.windows?.close();
  await step("saving counts of storage", () => runtime.usage.stop());
  await step("saving counts of traffic", () => runtime.traffic.stop());
  await step("closing the record", () => runtime.store.close());
  await step("sending the last traces", () => runtime.hooks.tracing?.stop());
  clearInterval(giveUp);
  process.exit(0);
}

function giveUpWithoutProgress({ config, log }: Runtime, calls: FinishedCalls, inProgress: () => string) {
  const begun = performance.now();
  let seen = "";
  let stalledMs = 0;
  return setInterval(() => {
    const state = `${inProgress()} ${calls.count}`;
    stalledMs = state === seen ? stalledMs + LOOK_MS : 0;
    seen = state;
    const why =
      performance.now() - begun >= config.SHUTDOWN_SECONDS * 1000
        ? `took longer than SHUTDOWN_SECONDS (${config.SHUTDOWN_SECONDS} s)`
        : stalledMs >= STALL_MS && `made no progress for ${STALL_MS} ms`;
    if (!why) return;
    log.error({ under_way: inProgress() }, `shutdown ${why} and was aborted; accepted data is stored`);
    process.exit(1);
  }, LOOK_MS);
}
