import { ServiceBroker } from "moleculer";
import { DirectoryInUse } from "mongoose-sqlite";
import type { Config } from "../../config.ts";
import { type Caller, SCOPES } from "../../lib/access/caller.ts";
import { isFault } from "../../lib/contract/faults.ts";
import { openSecretBox, SecretError } from "../../lib/crypto/secrets.ts";
import { newId } from "../../lib/ids.ts";
import { brokerOptions } from "../../moleculer.config.ts";
import { toFault } from "../../services/edge/gateway/answer/respond.ts";
import { requireFormats } from "../../services/edge/gateway/guards.ts";
import { agentsService } from "../../services/identity/agents/agents.service.ts";
import { auditService } from "../../services/identity/audit/audit.service.ts";
import { authService } from "../../services/identity/auth/auth.service.ts";
import { keysService } from "../../services/identity/keys/keys.service.ts";
import { rotationService } from "../../services/identity/rotation/rotation.service.ts";
import { SecretKeys } from "../../services/identity/rotation/secret-keys.ts";
import { teamsService } from "../../services/identity/teams/teams.service.ts";
import type { TenantState } from "../../services/identity/tenants/tenants.contract.ts";
import { tenantsService } from "../../services/identity/tenants/tenants.service.ts";
import { usersService } from "../../services/identity/users/users.service.ts";
import { MODELS } from "../../services/models.ts";
import { newHostResolver } from "../../services/outgoing.ts";
import { Modes } from "../../services/platform/admission/modes.ts";
import { nodesService } from "../../services/platform/nodes/nodes.service.ts";
import { startObservability } from "../../services/platform/system/observability.ts";
import { Traffic } from "../../services/platform/usage/traffic.ts";
import { StorageUsage } from "../../services/platform/usage/usage.ts";
import type { ServiceFactory } from "../../services/runtime.ts";
import { connectorsService } from "../../services/sense/connectors/connectors.service.ts";
import { openBlobs } from "../../storage/blobs/open.ts";
import { openStore, StoreError } from "../../storage/connection.ts";
import { AdminError, type Target } from "./typed.ts";

/** Stores connectors but consumes no messages: the process is short-lived. */
const idleConnectors: ServiceFactory = (runtime) => ({ ...connectorsService(runtime), events: {} });

/** Writes the modes, but keeps its own log level: the output of commands is JSON. */
const quietNodes: ServiceFactory = (runtime) =>
  nodesService({ ...runtime, modes: new Modes(runtime.log.child({}), "error", runtime.health) });

const SERVICES = [
  agentsService,
  auditService,
  authService,
  idleConnectors,
  keysService,
  rotationService,
  quietNodes,
  teamsService,
  tenantsService,
  usersService,
];

/** Opens the store in this process, with only the services that commands need, and acts as the operator. */
export async function openOffline(settings: Config, tenant: string): Promise<Target> {
  // Isolated from other nodes, which must not send work to a short-lived process.
  const config: Config = { ...settings, NATS_URL: null, LOG_LEVEL: "error" };
  const { store, secrets } = await openRecord(config);
  const blobs = await openBlobs(store, config, MODELS);
  const usage = new StorageUsage({ store, blobs, defaultMb: config.TENANT_STORAGE_MB });
  const traffic = new Traffic(store, config);
  const observability = await startObservability(config, store);
  const broker = new ServiceBroker(brokerOptions(config, observability));
  for (const service of SERVICES)
    broker.createService(
      service({
        ...{ config, store, blobs, usage, traffic, secrets, windows: null, resolver: newHostResolver([]) },
        ...observability,
        hooks: {},
      }),
    );
  await store.ready();
  await refusing(() => new SecretKeys({ store, secrets, config, ...observability }).require());
  await broker.start();
  return {
    async call(op, params) {
      const who =
        op.access.by === "operator" ? {} : { caller: await operatorIn(broker, tenant, store.now()) };
      const meta = { request_id: newId("req"), ...who };
      try {
        await requireFormats(broker, op, params);
        return ((await broker.call(op.action, params, { meta })) ?? {}) as Record<string, unknown>;
      } catch (err) {
        const fault = toFault(err);
        throw fault.type === "internal_error" && !isFault(err)
          ? err
          : new AdminError(`${fault.message} (${fault.type})`, fault.type);
      }
    },
    async close() {
      await broker.stop();
      await store.close();
    },
  };
}

function openRecord(config: Config) {
  return refusing(async () => {
    const store = await openStore(config);
    return { store, secrets: await openSecretBox(config) };
  });
}

async function refusing<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (err) {
    if (!(err instanceof StoreError || err instanceof SecretError)) throw err;
    const inUse = err.cause instanceof DirectoryInUse;
    throw new AdminError(
      `${err.message}${inUse ? ". If the server is running, give its address with --url." : ""}`,
    );
  }
}

/** Returns the operator as an admin of a tenant. It gets no token: it represents the right to open the store. */
async function operatorIn(broker: ServiceBroker, slug: string, now: number): Promise<Caller> {
  const tenant = (await broker.call("tenants.by_slug", { slug })) as TenantState | null;
  if (!tenant)
    throw new AdminError(`There is no tenant "${slug}". Name another with --tenant; tenants list shows all.`);
  return {
    kind: "user",
    tenant_id: tenant.id,
    user_id: "usr_operator",
    role: "admin",
    scopes: SCOPES,
    token_version: 0,
    session_id: "sid_operator",
    token_id: "jti_operator",
    expires_at: now,
  };
}
