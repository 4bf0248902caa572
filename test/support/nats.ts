import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { freePort } from "./ports.ts";
import { startProxy, type TcpProxy } from "./proxy.ts";

/** Traffic of a server between nodes since it started. */
type NatsCounts = { messages: number; bytes: number };

export interface NatsServer {
  url: string;
  pid(): number;
  counts(): Promise<NatsCounts>;
  kill(): Promise<void>;
  /** Connections stay open, but no data passes until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** Again, on the same port. */
  start(): Promise<void>;
  /** Removes what it kept; it must not be running. */
  remove(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a NATS server on a free port of 127.0.0.1; the test file says `@needs nats`. @param more lines of its settings */
export async function startNats(maxPayload = "12MB", more: string[] = []): Promise<NatsServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "sensorium-nats-"));
  const settings = join(folder, "nats.conf");
  const lines = [`listen: "127.0.0.1:${port}"`, 'http: "127.0.0.1:-1"', `max_payload: ${maxPayload}`];
  await writeFile(settings, `${[...lines, ...more].join("\n")}\n`);
  const start = async () => {
    const server = await startChild("nats-server", ["-c", settings]);
    await server.find(/Server is ready/);
    return server;
  };
  let child = await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    pid: () => child.pid,
    counts: async () => {
      const [, monitor] = await child.find(/http monitor on (\S+)/);
      const counts = (await (await fetch(`http://${monitor}/varz`)).json()) as Record<string, number>;
      return { messages: counts.in_msgs as number, bytes: counts.in_bytes as number };
    },
    pause: () => child.pause(),
    resume: () => child.resume(),
    kill: async () => void (await child.end("SIGKILL")),
    start: async () => {
      child = await start();
    },
    remove: () => rm(folder, { recursive: true }),
    stop: async () => {
      await child.end("SIGTERM");
      await rm(folder, { recursive: true });
    },
  };
}

/**
 * Starts two servers of one cluster of NATS. The second reaches the first through a proxy, so that their route can be cut.
 */
export async function startNatsMesh(): Promise<{ servers: [NatsServer, NatsServer]; route: TcpProxy }> {
  const [port, other] = [await freePort(), await freePort()];
  const route = await startProxy(port);
  const cluster = (listen: number, to = "") =>
    `cluster { name: test, listen: "127.0.0.1:${listen}", no_advertise: true, routes: [${to}] }`;
  const first = await startNats("12MB", [cluster(port)]);
  const second = await startNats("12MB", [cluster(other, `nats://127.0.0.1:${route.port}`)]);
  return { servers: [first, second], route };
}
