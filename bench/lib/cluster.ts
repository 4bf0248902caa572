import { randomBytes } from "node:crypto";
import { MongoClient } from "mongodb";
import type { Child } from "../../test/support/child.ts";
import { agentToken, api } from "../../test/support/http.ts";
import { startMongo, type TestMongo } from "../../test/support/mongo.ts";
import { type Nodes, startNodes } from "../../test/support/nodes.ts";
import { newReceiver } from "../../test/support/receiver.ts";
import { type RedisServer, startRedis } from "../../test/support/redis.ts";
import { settle } from "../../test/support/settle.ts";
import { Traffic } from "../../test/support/traffic.ts";
import { type Client, newClient } from "./http.ts";
import { cpuSeconds } from "./load.ts";
import { type CountedWay, countedWay } from "./wire.ts";
import { sampleEvent } from "./world.ts";

const SCOPES = ["send", "receive"];
const ENDING_MS = 10_000;

/** The servers of `npm run cluster`, for measuring: one gateway, a varying number of workers, and shared servers. */
export class Cluster {
  readonly mongo: TestMongo;
  readonly nodes: Nodes;
  /** Counts the nodes' commands to MongoDB; null if an external one is used. */
  readonly way: CountedWay | null;
  /** The running workers. */
  workers: Child[];
  readonly #redis: RedisServer;
  readonly #clients: Client[] = [];
  #traffics = 0;

  private constructor(mongo: TestMongo, redis: RedisServer, nodes: Nodes, way: CountedWay | null) {
    this.mongo = mongo;
    this.nodes = nodes;
    this.way = way;
    this.workers = [...nodes.workers];
    this.#redis = redis;
  }

  /** @param more settings of all nodes */
  static async start({
    counted,
    more,
  }: {
    counted: boolean;
    more?: Record<string, string>;
  }): Promise<Cluster> {
    const mongo = await startMongo();
    if ("skipped" in mongo) throw new Error(mongo.skipped);
    const redis = await startRedis();
    const way = counted && mongo.pid !== null ? await countedWay(Number(new URL(mongo.url).port)) : null;
    const url = way ? mongo.url.replace(/:\d+\//, `:${way.port}/`) : mongo.url;
    const settings = {
      REDIS_URL: redis.url,
      RATE_LIMIT_PER_MINUTE: "0",
      LOG_LEVEL: "warn",
      EMBEDDER: "none",
      ...more,
    };
    const nodes = await startNodes(url, 1, settings);
    return new Cluster(mongo, redis, nodes, way);
  }

  /** Starts or ends workers until there are `count`. */
  async scale(count: number): Promise<void> {
    while (this.workers.length > count) await this.workers.pop()?.end("SIGTERM", ENDING_MS);
    while (this.workers.length < count) this.workers.push(await this.nodes.addWorker());
  }

  /** Replaces the running workers by one for each list of services. */
  async spread(services: readonly (readonly string[])[]): Promise<void> {
    const before = this.workers;
    this.workers = [];
    for (const each of services) this.workers.push(await this.nodes.addWorker(each));
    for (const worker of before) await worker.end("SIGTERM", ENDING_MS);
  }

  /** Deletes delivered events: a MongoDB stand-in scans all rows, and old ones would slow the measurement. */
  async forget(): Promise<void> {
    const client = new MongoClient(this.mongo.url);
    for (const rows of ["events", "deliveries"]) await client.db().collection(rows).deleteMany({});
    await client.close();
  }

  /** Creates agents that publish to themselves, each with an event type. @param settings of each */
  async traffic(agents: number, settings: object = {}): Promise<Traffic> {
    const { gateway } = this.nodes;
    // The request may reach a worker that has just ended.
    const token = await settle(() => agentToken(gateway, gateway.credentials.agent.api_key));
    const admin = api(gateway, token);
    const name = `t${++this.#traffics}${randomBytes(3).toString("hex")}`;
    const parties = await Promise.all(
      Array.from({ length: agents }, async (_, i) => {
        const type = `com.example.${name}.a${i}`;
        const agent = await newReceiver(gateway, admin, type, {
          interests: [type],
          scopes: SCOPES,
          agent: settings,
        });
        const client = newClient(gateway.url, agent.token);
        this.#clients.push(client);
        return { type, send: client.ask };
      }),
    );
    const traffic = new Traffic(name, parties, sampleEvent);
    traffic.start();
    return traffic;
  }

  /** CPU seconds so far, all threads, of each process. */
  cpu(): Record<string, number> {
    const pids: Record<string, number | null> = {
      gateway: this.nodes.gateway.pid(),
      NATS: this.nodes.nats.pid(),
      Redis: this.#redis.pid(),
      record: this.mongo.pid,
      generator: process.pid,
    };
    for (const [i, { pid }] of this.workers.entries()) pids[`worker ${i}`] = pid;
    const known = Object.entries(pids).filter((each): each is [string, number] => each[1] !== null);
    return Object.fromEntries(known.map(([name, pid]) => [name, cpuSeconds(pid)]));
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.nodes.stop();
    await this.way?.stop();
    await this.#redis.stop();
    await this.mongo.stop();
  }
}
