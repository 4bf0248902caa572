import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { type Child, startChild } from "./child.ts";
import { freePort } from "./ports.ts";
import { type RedisServer, startRedis } from "./redis.ts";
import { settle } from "./settle.ts";

const run = promisify(execFile);
const MASTERS = 3;
/** A node of a Cluster listens on a second port, this much higher. */
const BUS = 10_000;
const PASSWORD = "of redis, with @ and :";

export interface RedisCluster {
  /** Two of its nodes: the others are to be found. */
  url: string;
  masters: RedisServer[];
  stop(): Promise<void>;
}

/** Starts a Redis Cluster of three masters on 127.0.0.1. The first has a replica. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const ports = await Promise.all(Array.from({ length: MASTERS + 1 }, portWithBus));
  const servers = await Promise.all(
    ports.map((port) => startRedis(["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"], port)),
  );
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())));
  const cli = (...args: string[]) => run("redis-cli", args);
  try {
    await cli("--cluster", "create", ...addresses.slice(0, MASTERS), "--cluster-yes");
    await waitForAgreement(ports.slice(0, MASTERS));
    const [first, last] = [addresses[0], addresses[MASTERS]] as [string, string];
    const { stdout: id } = await cli("-p", String(ports[0]), "cluster", "myid");
    await cli("--cluster", "add-node", last, first, "--cluster-slave", "--cluster-master-id", id.trim());
    await waitForAgreement(ports);
    await settle(async () =>
      /state=online/.test((await cli("-p", String(ports[0]), "info", "replication")).stdout),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `redis+cluster://${addresses.slice(0, 2).join(",")}`;
  return { url, masters: servers.slice(0, MASTERS), stop };
}

async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort();
    // Its second port must not be one that the system gives to others.
    if (port + BUS < 32_000) return port;
  }
}

/** Waits until each node knows all slots and all others. */
async function waitForAgreement(ports: number[]): Promise<void> {
  await settle(async () => {
    const infos = await Promise.all(
      ports.map(async (port) => (await run("redis-cli", ["-p", String(port), "cluster", "info"])).stdout),
    );
    return infos.every(
      (info) => info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${ports.length}`),
    );
  });
}

export interface Sentinels {
  url: string;
  master: RedisServer;
  /** The role of the server that was the first master. */
  replication(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a master and its replica, with a password, and three Sentinels, with another one, on 127.0.0.1. */
export async function startSentinels(): Promise<Sentinels> {
  const auth = ["--requirepass", PASSWORD, "--masterauth", PASSWORD];
  const port = await freePort();
  const master = await startRedis(auth, port);
  const replica = await startRedis([...auth, "--replicaof", `127.0.0.1 ${port}`]);
  const folder = await mkdtemp(join(tmpdir(), "sensorium-sentinels-"));
  const sentinels: { port: number; child: Child }[] = [];
  for (let i = 0; i < MASTERS; i++) sentinels.push(await startSentinel(join(folder, `${i}.conf`), port));
  const stop = async () => {
    await Promise.all(sentinels.map(({ child }) => child.end("SIGKILL")));
    await Promise.all([master.stop(), replica.stop()]);
    await rm(folder, { recursive: true });
  };
  const replication = () => infoOf(port);
  try {
    await settle(async () => (await replication()).includes("state=online"));
    for (const sentinel of sentinels) await waitForPeers(sentinel.port);
  } catch (error) {
    await stop();
    throw error;
  }
  const addresses = sentinels.map((sentinel) => `127.0.0.1:${sentinel.port}`).join(",");
  const url = `redis+sentinel://:${encodeURIComponent(PASSWORD)}@${addresses}/limits?sentinel_password=of-sentinels`;
  return { url, master, replication, stop };
}

async function infoOf(port: number): Promise<string> {
  const env = { ...process.env, REDISCLI_AUTH: PASSWORD };
  return (await run("redis-cli", ["-p", String(port), "info", "replication"], { env })).stdout;
}

async function startSentinel(file: string, of: number) {
  const port = await freePort();
  const settings = `port ${port}
bind 127.0.0.1
requirepass of-sentinels
sentinel sentinel-pass of-sentinels
sentinel monitor limits 127.0.0.1 ${of} 2
sentinel auth-pass limits "${PASSWORD}"
sentinel down-after-milliseconds limits 1000
sentinel failover-timeout limits 5000
`;
  await writeFile(file, settings);
  const child = await startChild("redis-server", [file, "--sentinel"]);
  await child.find(/Sentinel ID is/);
  return { port, child };
}

/** Waits until a Sentinel knows the replica and the other Sentinels. */
async function waitForPeers(port: number): Promise<void> {
  const redis = new Redis({ host: "127.0.0.1", port, password: "of-sentinels" });
  try {
    await settle(async () => {
      const found = (await redis.call("sentinel", "master", "limits")) as string[];
      const read = (name: string) => found[found.indexOf(name) + 1];
      return read("num-slaves") === "1" && read("num-other-sentinels") === String(MASTERS - 1);
    });
  } finally {
    redis.disconnect();
  }
}
