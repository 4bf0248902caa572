import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAlone } from "./alone.ts";
import type { Child } from "./child.ts";
import { agentToken } from "./http.ts";
import { type NatsServer, startNats } from "./nats.ts";
import type { TestServer } from "./server.ts";
import { settle } from "./settle.ts";
import { AT_THE_EDGE, startWorker, workerReady } from "./worker.ts";

export interface Nodes {
  nats: NatsServer;
  gateway: TestServer;
  workers: Child[];
  /** Contains a data directory for each worker that was ever started: `worker-0`, `worker-1` … */
  folder: string;
  /**
   * Another worker, which goes with the others; with these services when they are named, with more settings, and of another
   * checkout. Resolves when it can serve.
   */
  addWorker(services?: readonly string[], more?: Record<string, string>, root?: string): Promise<Child>;
  /**
   * Another node with a gateway, which goes with the others; `services` as in SERVICES, all of them when absent, and
   * `own` settings.
   */
  addServer(services?: readonly string[], own?: Record<string, string>): Promise<TestServer>;
  /** Ends all of them. @throws Error when one of those that were still running did not end well. */
  stop(): Promise<void>;
}

/**
 * Starts a gateway and `workers` nodes behind it, over a separate NATS.
 *
 * @param mongoUrl their record
 * @param settings more of them, for all nodes
 * @param say called with each part that was started, and where it is
 * @param starting their NATS, which is stopped with them
 */
export async function startNodes(
  mongoUrl: string,
  workers: number,
  settings: Record<string, string> = { RATE_LIMIT_PER_MINUTE: "0" },
  say: (part: string, where: string) => void = () => {},
  starting: NatsServer | Promise<NatsServer> = startNats(),
): Promise<Nodes> {
  // Parts that run already, should the rest not start.
  await using opened = new AsyncDisposableStack();
  const nats = await starting;
  opened.defer(nats.stop);
  say("NATS", nats.url);
  const folder = await mkdtemp(join(tmpdir(), "sensorium-nodes-"));
  const SECRET_KEY = randomBytes(32).toString("base64");
  const env = { ...settings, MONGO_URL: mongoUrl, NATS_URL: nats.url, SECRET_KEY };
  const started = await Promise.all(
    Array.from({ length: workers }, (_, i) => startWorker(env, join(folder, `worker-${i}`))),
  );
  for (const { pid } of started) say("worker", `process ${pid}`);
  opened.defer(async () => void (await Promise.all(started.map((worker) => worker.end("SIGKILL")))));
  const gateway = await startAlone({ env: { ...env, SERVICES: AT_THE_EDGE.join(",") } });
  opened.defer(gateway.stop);
  const servers = [gateway];
  let folders = workers;
  await settle(() => agentToken(gateway, gateway.credentials.agent.api_key));
  say("gateway", gateway.url);
  opened.move();
  return {
    ...{ nats, gateway, workers: started, folder },
    addWorker: async (services, more, root) => {
      const dataDir = join(folder, `worker-${folders++}`);
      const worker = await startWorker({ ...env, ...more }, dataDir, services, root);
      started.push(worker);
      await workerReady(worker);
      return worker;
    },
    addServer: async (services = [], own = {}) => {
      const settings = { ...env, ...own, SERVICES: services.join(",") };
      const server = await startAlone({ env: settings, beside: gateway });
      servers.push(server);
      say("gateway", server.url);
      return server;
    },
    stop: async () => {
      const ends = [
        ...servers.map((server) => server.stop()),
        ...started.map((worker) => worker.end("SIGTERM")),
      ];
      const ended = await Promise.allSettled(ends);
      await nats.stop();
      await rm(folder, { recursive: true, force: true });
      for (const each of ended) if (each.status === "rejected") throw each.reason;
    },
  };
}
