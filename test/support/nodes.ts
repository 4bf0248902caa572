import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceFactories } from "../../services/index.ts";
import { type Child, startChild } from "./child.ts";
import { agentToken } from "./http.ts";
import { type NatsServer, startNats } from "./nats.ts";
import { START, startServer, type TestServer } from "./server.ts";
import { settle } from "./settle.ts";

const AT_THE_EDGE = ["gateway"];
const BEHIND = Object.keys(serviceFactories).filter((name) => !AT_THE_EDGE.includes(name));

export interface Nodes {
  nats: NatsServer;
  gateway: TestServer;
  workers: Child[];
  /** Another node that runs everything but the gateway. */
  addWorker(): Promise<Child>;
  stop(): Promise<void>;
}

/** A gateway and `workers` nodes behind it, which meet over NATS of their own. @param mongoUrl their record */
export async function startNodes(mongoUrl: string, workers: number): Promise<Nodes> {
  const nats = await startNats();
  const folder = await mkdtemp(join(tmpdir(), "afferent-nodes-"));
  const env = {
    MONGO_URL: mongoUrl,
    NATS_URL: nats.url,
    SECRET_KEY: randomBytes(32).toString("base64"),
    RATE_LIMIT_PER_MINUTE: "0",
  };
  const started: Child[] = [];
  const addWorker = async () => {
    const { PATH = "" } = process.env;
    const DATA_DIR = join(folder, String(started.length));
    const settings = { ...env, PATH, DATA_DIR, SERVICES: BEHIND.join(",") };
    const worker = await startChild(process.execPath, START, { env: settings });
    started.push(worker);
    return worker;
  };
  await Promise.all(Array.from({ length: workers }, addWorker));
  const gateway = await startServer({ env: { ...env, SERVICES: AT_THE_EDGE.join(",") } });
  await settle(() => agentToken(gateway, gateway.credentials.agent.api_key), { within: 20_000 });
  return {
    nats,
    gateway,
    workers: started,
    addWorker,
    stop: async () => {
      await gateway.stop();
      await Promise.all(started.map((worker) => worker.end("SIGTERM", 10_000)));
      await nats.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
