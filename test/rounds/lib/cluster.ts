import type { Child } from "../../support/child.ts";
import { startFerret } from "../../support/ferretdb.ts";
import { startMongo } from "../../support/mongo.ts";
import { startNatsMesh } from "../../support/nats.ts";
import { startNodes } from "../../support/nodes.ts";
import { startProxy } from "../../support/proxy.ts";
import { sendTo, startRabbit, type TestRabbit } from "../../support/rabbitmq.ts";
import { startRedis } from "../../support/redis.ts";
import { settle } from "../../support/settle.ts";
import { checkOutFormer, type FormerVersion } from "../../support/versions.ts";
import { workerReady } from "../../support/worker.ts";
import type { Random } from "./random.ts";
import { pause } from "./round.ts";
import { SETTINGS, type Subject } from "./world.ts";

const SHORTEST_MS = 500;
const LONGEST_MS = 6000;

const QUEUE = "things";

/**
 * A gateway and workers over NATS, Redis and MongoDB, and one more worker behind separate proxies, at another server of
 * NATS; with a message broker if there is one and it is wanted. A strike is one of the faults that a cluster must survive:
 * a node killed, paused or cut off, the infrastructure away, a rolling restart.
 *
 * @param onFerret whether the record is FerretDB, which is killed, too
 * @throws Error if there is no such record to test against
 */
export async function startStruckCluster({
  workers = 3,
  withBroker = true,
  onFerret = false,
} = {}): Promise<Subject> {
  const ferret = onFerret ? await startFerret() : null;
  const mongo = ferret ?? (await startMongo({ isOwn: true }));
  if ("skipped" in mongo) throw new Error(mongo.skipped);
  // Parts that run already, should the rest not start.
  await using opened = new AsyncDisposableStack();
  opened.defer(mongo.stop);
  const redis = await startRedis();
  opened.defer(redis.stop);
  const rabbit = withBroker ? await startRabbit() : { skipped: "not wanted" };
  if ("url" in rabbit) {
    opened.defer(rabbit.stop);
    await sendTo(rabbit, QUEUE, []);
  }
  const { servers, route } = await startNatsMesh();
  const [nearNats, farNats] = servers;
  for (const each of [farNats, route]) opened.defer(each.stop);
  const settings = { ...SETTINGS, REDIS_URL: redis.url };
  const nodes = await startNodes(mongo.url, workers, settings, undefined, nearNats);
  opened.defer(nodes.stop);
  const [record, nats] = await Promise.all([mongo.url, farNats.url].map((url) => startProxy(portOf(url))));
  if (!record || !nats) throw new Error("no proxies");
  for (const proxy of [record, nats]) opened.defer(proxy.stop);
  await nodes.addWorker(undefined, {
    MONGO_URL: withPort(mongo.url, record.port),
    NATS_URL: withPort(farNats.url, nats.port),
  });
  const near = () => nodes.workers.filter(({ pid }) => pid !== far.pid && !ended.has(pid));
  const ended = new Set<number>();
  let former: FormerVersion | undefined;
  const far = nodes.workers.at(-1) as Child;
  const replace = async (worker: Child, signal: "SIGKILL" | "SIGTERM", ms = 0, root?: string) => {
    ended.add(worker.pid);
    await worker.end(signal);
    await pause(ms);
    return nodes.addWorker(undefined, undefined, root);
  };
  const faults: Record<string, (random: Random, ms: number) => Promise<unknown>> = {
    "a worker killed": (random, ms) => replace(random.pick(near()), "SIGKILL", ms),
    "a worker paused": async (random, ms) => {
      const worker = random.pick(near());
      await worker.pause();
      await pause(ms);
      worker.resume();
      await workerReady(worker);
    },
    "the gateway killed": async () => {
      await nodes.gateway.kill();
      await nodes.gateway.restart();
    },
    "a worker cut off from the record": (_, ms) => between(record.cut, record.mend, ms),
    "a worker cut off from NATS": (_, ms) => between(nats.cut, nats.mend, ms),
    "a worker's connections to the record silent": (_, ms) => between(record.mute, record.mend, ms),
    "a worker of the version before": async (random, ms) => {
      former ??= await checkOutFormer();
      const older = await replace(random.pick(near()), "SIGTERM", 0, former.folder);
      await pause(ms);
      await replace(older, "SIGTERM");
    },
    "the route between servers of NATS cut": (_, ms) => between(route.cut, route.mend, ms),
    "NATS killed": (_, ms) => between(nodes.nats.kill, nodes.nats.start, ms),
    "NATS paused": (_, ms) => between(nodes.nats.pause, nodes.nats.resume, ms),
    "Redis killed": (_, ms) => between(redis.kill, redis.start, ms),
    "a rolling restart": async () => {
      for (const worker of near()) await replace(worker, "SIGTERM");
    },
  };
  if (ferret && "kill" in ferret)
    faults["the record killed"] = (_, ms) => between(ferret.kill, ferret.start, ms);
  else if (mongo.pid !== null) {
    const { pid } = mongo;
    const signal = (name: NodeJS.Signals) => () => process.kill(pid, name);
    faults["the record paused"] = (_, ms) => between(signal("SIGSTOP"), signal("SIGCONT"), ms);
  }
  if ("url" in rabbit) faults["the broker killed"] = (_, ms) => between(rabbit.kill, rabbit.start, ms);
  const send = (name: string) =>
    settle(() => "url" in rabbit && sendNamed(rabbit, name), {
      within: 60_000,
      what: "the broker to confirm",
    });
  opened.move();
  return {
    ...{ server: nodes.gateway, aftermath: true, largestBatch: 5 },
    // These scan their collections.
    publishEveryMs: mongo.kind === "mongo-java-server" || ferret ? 300 : 0,
    ...("url" in rabbit && { broker: { url: rabbit.url, queue: QUEUE, send } }),
    strike: (random) => {
      const [name, fault] = random.pick(Object.entries(faults));
      const ms = random.int(SHORTEST_MS, LONGEST_MS);
      return { what: `${name} (${ms} ms)`, cause: () => fault(random, ms) };
    },
    stop: async () => {
      await nodes.stop();
      await former?.remove();
      const parts = [record, nats, route, farNats, redis, mongo];
      await Promise.all(parts.map((part) => part.stop()));
      if ("url" in rabbit) await rabbit.stop();
    },
  };
}

/** A message that was not confirmed is sent again: its id tells the copies apart from others. */
async function sendNamed(rabbit: TestRabbit, name: string): Promise<true> {
  await sendTo(rabbit, QUEUE, [{ body: { name }, options: { messageId: name } }]);
  return true;
}

async function between(begin: () => unknown, end: () => unknown, ms: number): Promise<void> {
  await begin();
  await pause(ms);
  await end();
}

function portOf(url: string): number {
  return Number(/:(\d+)/.exec(url)?.[1]);
}

function withPort(url: string, port: number): string {
  return url.replace(/:\d+/, `:${port}`);
}
