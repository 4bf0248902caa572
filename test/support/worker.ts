import { START } from "./alone.ts";
import { type Child, startChild } from "./child.ts";
import { settle } from "./settle.ts";

/** The services of a gateway's node. */
export const AT_THE_EDGE = ["gateway"];
const READY = /(http:\/\/127\.0\.0\.1:\d+)\/readyz/;
const BEHIND = AT_THE_EDGE.map((name) => `-${name}`);

/** Starts a node, of the checkout `root`, with all services but the gateway, or those that are named. It is ready once there is a gateway. */
export function startWorker(
  env: Record<string, string>,
  dataDir: string,
  services: readonly string[] = BEHIND,
  root?: string,
): Promise<Child> {
  const { PATH = "" } = process.env;
  const settings = { ...env, PATH, PORT: "0", DATA_DIR: dataDir, SERVICES: services.join(",") };
  return startChild(process.execPath, START, { env: settings, ...(root && { cwd: root }) });
}

/** Resolves when a worker can serve. */
export async function workerReady(worker: Child): Promise<void> {
  const [, root] = await worker.find(READY);
  await settle(async () => (await fetch(`${root}/readyz`)).status === 200);
}

/** Returns the metrics of a ready worker in the Prometheus text format. */
export async function metricsOf(worker: Child): Promise<string> {
  const [, root] = await worker.find(READY);
  return (await fetch(`${root}/metrics`)).text();
}
