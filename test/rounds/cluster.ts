/**
 * `npm run cluster [-- GATEWAYS WORKERS]`: a cluster on this machine, with NATS, Redis, a MongoDB and, unless told
 * otherwise, two gateways and two workers on free ports of 127.0.0.1. Ctrl-C stops all of it; nothing is kept.
 */
import { startMongo } from "../support/mongo.ts";
import { onPath } from "../support/needs.ts";
import { startNodes } from "../support/nodes.ts";
import { startRedis } from "../support/redis.ts";

const MOST = 16;
const say = (line: string) => process.stdout.write(`${line}\n`);
const [gateways, workers] = [process.argv[2] ?? "2", process.argv[3] ?? "2"].map(Number) as [number, number];
if (![gateways, workers].every((n) => Number.isInteger(n) && n >= 1 && n <= MOST)) {
  fail(`GATEWAYS and WORKERS are whole numbers from 1 to ${MOST}: got ${process.argv.slice(2).join(" ")}.`);
}
for (const command of ["nats-server", "redis-server"]) {
  if (!onPath(command)) fail(`${command} is not on PATH: apt-get install ${command}`);
}

/** Ends what was started, last first. One that fails to end well does not keep the others. */
const ends: (() => Promise<void>)[] = [];
let stopping: Promise<void> | undefined;
const stop = () => {
  stopping ??= stopAll();
  return stopping;
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);

try {
  await start();
} catch (err) {
  if (!stopping) process.exitCode = 1;
  if (!stopping) process.stderr.write(`${(err as Error).message}\n`);
  await stop();
}

async function start(): Promise<void> {
  const mongo = await startMongo();
  if ("skipped" in mongo) throw new Error(mongo.skipped);
  ends.push(mongo.stop);
  const redis = await startRedis();
  ends.push(redis.stop);
  const nodes = await startNodes(mongo.url, workers, { REDIS_URL: redis.url });
  ends.push(nodes.stop);
  const others = [];
  for (let n = 2; n <= gateways; n++) others.push(await nodes.addServer(["gateway"]));
  say(`MongoDB      ${mongo.url} (${mongo.kind})`);
  say(`NATS         ${nodes.nats.url}`);
  say(`Redis        ${redis.url}`);
  for (const { url } of [nodes.gateway, ...others]) say(`gateway      ${url}`);
  for (const { pid } of nodes.workers) say(`worker       process ${pid}`);
  say(`credentials  ${nodes.gateway.dataDir}/credentials.json`);
  say("The cluster is ready. Ctrl-C stops it.");
}

async function stopAll(): Promise<void> {
  say("Stopping.");
  for (const end of ends.reverse()) {
    // A terminal's Ctrl-C reaches all of them at once, and a node may find its record gone before it ends.
    await end().catch(() => {});
  }
  say("Stopped.");
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
