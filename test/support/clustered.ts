import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAlone } from "./alone.ts";
import type { Child } from "./child.ts";
import { startMongo } from "./mongo.ts";
import { startNats } from "./nats.ts";
import type { ServerOptions, TestServer } from "./server.ts";
import { AT_THE_EDGE, metricsOf, startWorker } from "./worker.ts";

/** Settings shared by nodes on the same data directory. */
type Shared = { MONGO_URL: string; SECRET_KEY: string };

/**
 * Starts a gateway and a worker over NATS, on a database that belongs to the data directory. They start, end and are
 * killed together.
 */
export async function startClustered(
  { env = {}, dataDir: given, within }: ServerOptions,
  mongoUrl = process.env.MONGO_URL,
): Promise<TestServer> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), "sensorium-cluster-")));
  const { shared, drop } = await sharedOf(dataDir, mongoUrl);
  const nats = await startNats();
  const settings = { ...env, ...shared, NATS_URL: nats.url };
  let worker: Child | undefined;
  const startBehind = async () => {
    worker = await startWorker(settings, join(dataDir, "worker"));
  };
  const endBehind = async () => {
    const ending = worker;
    worker = undefined;
    try {
      if (ending) await endWell(ending);
    } finally {
      await nats.kill();
    }
  };
  const removeOwn = async () => {
    if (given) return;
    await drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  let gateway: TestServer;
  try {
    await startBehind();
    gateway = await startAlone({ env: { ...settings, SERVICES: AT_THE_EDGE.join(",") }, dataDir, within });
  } catch (error) {
    await worker?.end("SIGKILL");
    await nats.stop();
    await removeOwn();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the cluster did not get ready: ${why}\nits worker:\n${worker?.output() ?? "not started"}`,
    );
  }
  const end = () => gateway.end().finally(endBehind);
  const stop = () => end().finally(nats.remove).finally(removeOwn);
  return {
    ...gateway,
    logs: () => gateway.logs() + (worker?.output() ?? ""),
    metrics: async () => `${await gateway.metrics()}\n${await metricsOf(worker as Child)}`,
    end,
    stop,
    [Symbol.asyncDispose]: stop,
    kill: async () => {
      await Promise.all([gateway.kill(), worker?.end("SIGKILL")]);
      worker = undefined;
      await nats.kill();
    },
    restart: async () => {
      await end();
      await nats.start();
      await startBehind();
      await gateway.restart();
    },
  };
}

async function endWell(worker: Child): Promise<void> {
  const { code, signal } = await worker.end("SIGTERM");
  if (code !== 0)
    throw new Error(`a worker ended with ${signal ?? `exit code ${code}`}:\n${worker.output()}`);
}

async function sharedOf(
  dataDir: string,
  mongoUrl: string | undefined,
): Promise<{ shared: Shared; drop(): Promise<void> }> {
  if (!mongoUrl)
    throw new Error("SENSORIUM_TEST_WORLD=cluster needs MONGO_URL; `npm test -- cluster` brings one.");
  const file = join(dataDir, "cluster.json");
  const known = await readFile(file, "utf8").catch(() => null);
  if (known) return { shared: JSON.parse(known), drop: async () => {} };
  const mongo = await startMongo({ given: mongoUrl });
  if ("skipped" in mongo) throw new Error(mongo.skipped);
  const shared = { MONGO_URL: mongo.url, SECRET_KEY: randomBytes(32).toString("base64") };
  await writeFile(file, JSON.stringify(shared));
  return { shared, drop: mongo.stop };
}
