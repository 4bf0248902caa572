import { START } from "./alone.ts";
import { type Child, startChild } from "./child.ts";

/** The services of a gateway's node. */
export const AT_THE_EDGE = ["gateway"];
const BEHIND = AT_THE_EDGE.map((name) => `-${name}`);

/** Starts a node with all services but the gateway. It is ready once there is a gateway. */
export function startWorker(env: Record<string, string>, dataDir: string): Promise<Child> {
  const { PATH = "" } = process.env;
  const settings = { ...env, PATH, PORT: "0", DATA_DIR: dataDir, SERVICES: BEHIND.join(",") };
  return startChild(process.execPath, START, { env: settings });
}

/** What a worker that is ready counts, in the text format of Prometheus. */
export async function metricsOf(worker: Child): Promise<string> {
  const [, root] = await worker.find(/(http:\/\/127\.0\.0\.1:\d+)\/readyz/, 10_000);
  return (await fetch(`${root}/metrics`)).text();
}
