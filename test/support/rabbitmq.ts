import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ChannelModel, connect, type Options } from "amqplib";
import { type Child, startChild } from "./child.ts";
import { onPath } from "./needs.ts";
import { freePort } from "./ports.ts";
import { settle } from "./settle.ts";

const READY_MS = 60_000;
/** With what a URL has to write otherwise. */
const PASSWORD = "s3cret/with?signs@all";

export interface TestRabbit {
  port: number;
  /** Of the broker, which has several processes. */
  pid(): number;
  user: string;
  password: string;
  /** `amqp://user:password@127.0.0.1:PORT`: AMQP 0-9-1 and 1.0 alike. */
  url: string;
  /** `http://user:password@127.0.0.1:PORT/api` of its management, where that was asked for. */
  manage: string;
  /** SIGKILL; what it has confirmed, and its queues, stay for `start`. */
  kill(): Promise<void>;
  /** On the same port, with what it had stored. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A message to send; its body as JSON unless it is a text or bytes. */
export type Outgoing = { body: unknown; options?: Options.Publish };

/** Sends to a durable queue, which is created if missing. Resolves when the broker has confirmed all. */
export async function sendTo({ url }: TestRabbit, queue: string, messages: Outgoing[]): Promise<void> {
  const connection = await connect(url);
  // Seen as messages that are not confirmed.
  connection.on("error", () => {});
  try {
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => {});
    await channel.assertQueue(queue, { durable: true });
    for (const { body, options } of messages) channel.sendToQueue(queue, toBytes(body), lasting(options));
    await channel.waitForConfirms();
  } finally {
    await connection.close();
  }
}

/**
 * Sends messages `{n: 0}`, `{n: 1}`, … one by one until `enough`, through whatever becomes of the broker meanwhile.
 *
 * @returns which ones the broker has confirmed.
 */
export async function sendThrough(
  { url }: TestRabbit,
  queue: string,
  enough: (confirmed: Set<number>) => boolean,
): Promise<Set<number>> {
  const confirmed = new Set<number>();
  for (let n = 0; !enough(confirmed); ) {
    const connection = await settle(
      async (): Promise<true | ChannelModel> => enough(confirmed) || connect(url),
      { within: 60_000, what: "the broker to be back" },
    );
    if (connection === true) break;
    connection.on("error", () => {});
    try {
      const channel = await connection.createConfirmChannel();
      channel.on("error", () => {});
      while (!enough(confirmed)) {
        const id = n++;
        const options = lasting({ messageId: `m-${id}`, mandatory: true });
        await new Promise<void>((resolve, reject) => {
          channel.once("close", () => reject(new Error("closed")));
          // It is confirmed all the same.
          channel.once("return", () => reject(new Error("there is no queue")));
          channel.sendToQueue(queue, toBytes({ n: id }), options, (err) => (err ? reject(err) : resolve()));
        });
        for (const name of ["close", "return"]) channel.removeAllListeners(name);
        confirmed.add(id);
      }
      await connection.close();
    } catch (error) {
      // Cut off: what was not confirmed is not counted.
      if (/no queue/.test(String(error))) throw error;
    }
  }
  return confirmed;
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function lasting(options: Options.Publish = {}): Options.Publish {
  return { persistent: true, contentType: "application/json", ...options };
}

/** Starts a RabbitMQ that speaks AMQP 0-9-1 and 1.0, or returns why it cannot. */
export async function startRabbit({ managed = false } = {}): Promise<TestRabbit | { skipped: string }> {
  if (!onPath("rabbitmq-server")) return { skipped: "rabbitmq: no rabbitmq-server on PATH" };
  for (let triesLeft = 2; ; triesLeft--) {
    try {
      return await startOnFreePorts(managed);
    } catch (error) {
      // Between being found free and being bound, a port can be taken by somebody else.
      if (triesLeft === 0 || !/eaddrinuse|address already in use/i.test(String(error))) throw error;
    }
  }
}

async function startOnFreePorts(managed: boolean): Promise<TestRabbit> {
  const directory = await mkdtemp(join(tmpdir(), "sensorium-rabbitmq-"));
  const [port, distribution, names] = [await freePort(), await freePort(), await freePort()];
  const management = managed ? await freePort() : undefined;
  // Erlang's register of names: started here, it is not left behind as the daemon that the broker would start.
  const environment = { ERL_EPMD_PORT: String(names), ERL_EPMD_ADDRESS: "127.0.0.1" };
  const epmd = await startChild("epmd", [], { env: { ...basics(directory), ...environment } });
  const settings = { ...environment, ...(await configure(directory, { port, distribution, management })) };
  const env = { ...basics(directory), ...settings };
  const start = () => startBroker(env, port);
  const control = (...args: string[]) => promisify(execFile)(command("rabbitmqctl"), args, { env });
  const clean = async () => {
    await epmd.end("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  };
  let broker = await start().catch(async (error) => {
    await clean();
    throw error;
  });
  const end = async () => {
    await broker.end("SIGKILL");
  };
  const [user, password] = ["tester", PASSWORD];
  const login = `${user}:${encodeURIComponent(password)}@127.0.0.1`;
  return {
    port,
    pid: () => broker.pid,
    user,
    password,
    url: `amqp://${login}:${port}`,
    manage: `http://${login}:${management}/api`,
    kill: async () => {
      // A queue declared in the last two seconds may be in memory only, and messages for no queue are confirmed too.
      await control("eval", "mnesia:sync_log().");
      await end();
    },
    start: async () => {
      broker = await start();
    },
    stop: async () => {
      await end();
      await clean();
    },
  };
}

function basics(directory: string): Record<string, string> {
  // HOME holds Erlang's cookie.
  return { PATH: process.env.PATH ?? "", HOME: directory };
}

type Ports = { port: number; distribution: number; management: number | undefined };

async function configure(
  directory: string,
  { port, distribution, management }: Ports,
): Promise<Record<string, string>> {
  const [plugins, config] = [join(directory, "enabled_plugins"), join(directory, "rabbitmq.conf")];
  await writeFile(plugins, `[rabbitmq_amqp1_0${management ? ", rabbitmq_management" : ""}].\n`);
  const lines = [
    `listeners.tcp.default = 127.0.0.1:${port}`,
    "default_user = tester",
    `default_pass = ${PASSWORD}`,
    // A full disk of the machine is not what is tested.
    "disk_free_limit.absolute = 1MB",
    "log.console = true",
    "log.file = false",
    ...(management ? ["management.tcp.ip = 127.0.0.1", `management.tcp.port = ${management}`] : []),
  ];
  await writeFile(config, `${lines.join("\n")}\n`);
  return {
    RABBITMQ_NODENAME: `sensorium-${randomBytes(4).toString("hex")}@localhost`,
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(directory, "mnesia"),
    RABBITMQ_LOG_BASE: join(directory, "log"),
    RABBITMQ_GENERATED_CONFIG_DIR: join(directory, "generated"),
    RABBITMQ_PID_FILE: join(directory, "pid"),
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_CONF_ENV_FILE: join(directory, "none"),
    // Two schedulers: many, busily waiting, would take the machine from what is tested.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none",
    // The script replaces itself by the broker, so that a signal reaches it.
    RUNNING_UNDER_SYSTEMD: "true",
  };
}

async function startBroker(env: Record<string, string>, port: number): Promise<Child> {
  const broker = await startChild(command("rabbitmq-server"), [], { env });
  try {
    await broker.find(/Server startup complete/, READY_MS);
  } catch (error) {
    await broker.end("SIGKILL");
    throw new Error(`RabbitMQ did not start on port ${port}: ${(error as Error).message}`);
  }
  return broker;
}

/** Debian's commands on PATH switch to another user. */
function command(name: string): string {
  const own = `/usr/lib/rabbitmq/bin/${name}`;
  return existsSync(own) ? own : name;
}
