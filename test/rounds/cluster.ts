/**
 * `npm run cluster [-- GATEWAYS WORKERS NAME=VALUE…]`: a cluster on this machine, with NATS, Redis, a MongoDB and,
 * unless told otherwise, two gateways and two workers on free ports of 127.0.0.1, all of them with the given settings.
 * Ctrl-C or SIGTERM stops all of it, also while it starts; nothing is kept.
 */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_SETTINGS, readAllSettings } from "../../services/extensions.ts";
import { endChildren } from "../support/child.ts";
import { startMongo } from "../support/mongo.ts";
import { onPath } from "../support/needs.ts";
import { startNodes } from "../support/nodes.ts";
import { startRedis } from "../support/redis.ts";

const MOST = 16;
/** Set for each node by this command. */
const OWN = ["HOST", "PORT", "DATA_DIR", "SERVICES", "MONGO_URL", "NATS_URL", "REDIS_URL", "SECRET_KEY"];
const say = (line: string) => process.stdout.write(`${line}\n`);
const tell = (part: string, where: string) => say(`${part.padEnd(12)} ${where}`);

const words = process.argv.slice(2);
const settings = readSettings(words.filter((word) => word.includes("=")));
const [gateways, workers] = readCounts(words.filter((word) => !word.includes("=")));
for (const command of ["nats-server", "redis-server"]) {
  if (!onPath(command)) fail(`${command} is not on PATH: apt-get install ${command}`);
}

// Everything that is started keeps its files in here.
const folder = mkdtempSync(join(tmpdir(), "sensorium-cluster-"));
process.env.TMPDIR = folder;
/** Ends what was started, last first. One that fails to end well does not keep the others. */
const ends: (() => Promise<void>)[] = [];
let isStarted = false;
let stopping: Promise<never> | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop(0));

try {
  await start();
} catch (err) {
  // What was starting fails when it is stopped.
  if (!stopping) process.stderr.write(`${(err as Error).message}\n`);
  await stop(1);
}

async function start(): Promise<void> {
  say(`Starting MongoDB, Redis, NATS, ${workers} workers and ${gateways} gateways.`);
  const mongo = await startMongo({ say });
  if ("skipped" in mongo) throw new Error(mongo.skipped);
  ends.push(mongo.stop);
  tell("MongoDB", `${mongo.url} (${mongo.kind})`);
  const redis = await startRedis();
  ends.push(redis.stop);
  tell("Redis", redis.url);
  const nodes = await startNodes(mongo.url, workers, { ...settings, REDIS_URL: redis.url }, tell);
  ends.push(nodes.stop);
  for (let n = 2; n <= gateways; n++) await nodes.addServer(["gateway"]);
  tell("credentials", `${nodes.gateway.dataDir}/credentials.json`);
  isStarted = true;
  say("The cluster is ready. Ctrl-C stops it.");
}

function stop(code: number): Promise<never> {
  stopping ??= stopAll(code);
  return stopping;
}

async function stopAll(code: number): Promise<never> {
  say("Stopping.");
  // Until all has started, some of it is not in `ends` yet.
  if (!isStarted) await endChildren();
  for (const end of ends.reverse()) {
    // A terminal's Ctrl-C reaches all of them at once, and a node may find its record gone before it ends.
    await end().catch(() => {});
  }
  await endChildren();
  await rm(folder, { recursive: true, force: true });
  say("Stopped.");
  process.exit(code);
}

function readCounts(given: string[]): [number, number] {
  const [gateways = 2, workers = 2] = given.map(Number);
  if (given.length > 2 || ![gateways, workers].every((n) => Number.isInteger(n) && n >= 1 && n <= MOST))
    fail(`GATEWAYS and WORKERS are whole numbers from 1 to ${MOST}: got ${given.join(" ")}.`);
  return [gateways, workers];
}

/** Returns the settings given as NAME=VALUE, checked as a node would check them. */
function readSettings(given: string[]): Record<string, string> {
  const settings = Object.fromEntries(given.map((word) => word.split(/=(.*)/s, 2)));
  for (const name of Object.keys(settings)) {
    if (!Object.hasOwn(ALL_SETTINGS, name)) fail(`${name} is not a setting; see docs/reference/settings.md.`);
    if (OWN.includes(name)) fail(`${name} cannot be given: the command sets it for each node.`);
  }
  try {
    // What a cluster has.
    const cluster = {
      MONGO_URL: "mongodb://127.0.0.1/sensorium",
      SECRET_KEY: Buffer.alloc(32).toString("base64"),
    };
    readAllSettings({ ...settings, ...cluster });
  } catch (err) {
    fail((err as Error).message);
  }
  return settings;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
