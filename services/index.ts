import { RUNNING } from "./extensions.ts";
import type { Hooks } from "./hooks.ts";
import { modulesNamed } from "./modules.ts";
import type { Runtime, ServiceFactory } from "./runtime.ts";

/**
 * Services that run with another: the keys of tokens and secrets are replaced where tokens are issued, MCP is a route of each
 * gateway, in its process.
 */
const RUNS_WITH: Record<string, string> = { rotation: "auth", mcp: "gateway" };

/** Runs on each node, whatever its `SERVICES`. */
const EVERYWHERE = "nodes";

/** Every service by its name, as listed in `SERVICES`: of the files named `*.service.ts` and of extensions on nodes. */
export const serviceFactories: Record<string, ServiceFactory[]> = {};

function addService(name: string, ...factories: ServiceFactory[]): void {
  serviceFactories[name] = [...(serviceFactories[name] ?? []), ...factories];
}

for (const module of await modulesNamed("service"))
  for (const [key, factory] of Object.entries(module)) {
    const name = key.replace(/Service$/, "");
    if (name !== key && name !== EVERYWHERE) addService(RUNS_WITH[name] ?? name, factory);
  }

/** Parts of the extensions on nodes. */
const running = await Promise.all(RUNNING.map(async ({ run }) => (await run?.()) ?? {}));

for (const { services = {} } of running)
  for (const [name, added] of Object.entries(services)) addService(name, ...[added].flat());

/** Returns what extensions do for the services of a node. */
export async function hooksOf(runtime: Omit<Runtime, "hooks">): Promise<Hooks> {
  const given: Hooks[] = await Promise.all(running.map(({ hooks }) => hooks?.(runtime) ?? {}));
  const approvalChannels = given.flatMap((each) => each.approvalChannels ?? []);
  const embedders = Object.assign({}, ...given.map((each) => each.embedders));
  const documentReaders = Object.assign({}, ...given.map((each) => each.documentReaders));
  return Object.assign({}, ...given, { approvalChannels, documentReaders, embedders });
}

/**
 * Services without which nobody signs in, publishes or receives: a node is ready when each is on some node. Others may be
 * missing, as next to nodes of an earlier version after a rollback. Of this list each must be in the release before.
 */
export const CORE_SERVICES = [
  ...["agents", "auth", "blobs", "deliveries", "events", "idempotency", "interests"],
  ...["keys", "teams", "tenants", "users"],
];
