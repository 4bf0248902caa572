import { type Middleware, ServiceBroker } from "moleculer";
import { openSecretBox } from "../../lib/crypto/secrets.ts";
import { brokerOptions } from "../../moleculer.config.ts";
import { Health } from "../../observability/health.ts";
import { createLog } from "../../observability/log.ts";
import { readAllSettings } from "../../services/extensions.ts";
import { agentsService } from "../../services/identity/agents/agents.service.ts";
import { authService } from "../../services/identity/auth/auth.service.ts";
import { keysService } from "../../services/identity/keys/keys.service.ts";
import { teamsService } from "../../services/identity/teams/teams.service.ts";
import { tenantsService } from "../../services/identity/tenants/tenants.service.ts";
import { usersService } from "../../services/identity/users/users.service.ts";
import { MODELS } from "../../services/models.ts";
import { newHostResolver } from "../../services/outgoing.ts";
import { DiskWatch } from "../../services/platform/admission/disk.ts";
import { Modes } from "../../services/platform/admission/modes.ts";
import { Traffic } from "../../services/platform/usage/traffic.ts";
import { StorageUsage } from "../../services/platform/usage/usage.ts";
import type { Runtime, ServiceFactory } from "../../services/runtime.ts";
import { openBlobs } from "../../storage/blobs/open.ts";
import { openStore } from "../../storage/connection.ts";
import { unread } from "./audit.ts";

const IDENTITY = [agentsService, authService, keysService, teamsService, tenantsService, usersService];

type NodeOptions = { env?: Record<string, string>; middlewares?: Middleware[] };

/** The services of identity in this process, on an embedded store, without HTTP. */
export function startIdentity(dataDir: string, middlewares: Middleware[] = []) {
  return startServices(dataDir, IDENTITY, { middlewares });
}

/** Services of one node in this process, without HTTP. */
export async function startServices(
  dataDir: string,
  services: ServiceFactory[],
  { env = {}, middlewares }: NodeOptions,
) {
  const config = readAllSettings({ DATA_DIR: dataDir, LOG_LEVEL: "fatal", ...env });
  const store = await openStore(config);
  const blobs = await openBlobs(store, config, MODELS);
  const secrets = await openSecretBox(config);
  // Of a process's metrics there is only one set, and of these nodes many.
  const disk = new DiskWatch(dataDir, 0);
  const [log, health] = [createLog(config), new Health()];
  const modes = new Modes(log, config.LOG_LEVEL, health);
  const observability = { log, health, modes, disk };
  const broker = new ServiceBroker({
    ...brokerOptions(config, observability),
    ...(middlewares && { middlewares }),
  });
  const usage = new StorageUsage({ store, blobs, defaultMb: config.TENANT_STORAGE_MB });
  const resolver = newHostResolver([]);
  const runtime: Runtime = {
    ...{ hooks: {}, config, store, blobs, usage, traffic: new Traffic(store, config), secrets, resolver },
    windows: null,
    ...observability,
  };
  for (const service of services) broker.createService(service(runtime));
  broker.createService(unread);
  await store.ready();
  await broker.start();
  const stop = async () => {
    await broker.stop();
    await store.close();
  };
  return { broker, runtime, stop };
}
