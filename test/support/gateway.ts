import type { IncomingMessage } from "node:http";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import type { AgentCaller, Caller, UserCaller } from "../../lib/access/caller.ts";
import type { Operation } from "../../lib/contract/contract.ts";
import { Fault } from "../../lib/contract/faults.ts";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { brokerOptions } from "../../moleculer.config.ts";
import { Health } from "../../observability/health.ts";
import { createLog } from "../../observability/log.ts";
import { gateway } from "../../services/edge/gateway/gateway.service.ts";
import type { GatewayDeps } from "../../services/edge/gateway/gateway-context.ts";
import { idempotencyService } from "../../services/edge/idempotency/idempotency.service.ts";
import { readAllSettings } from "../../services/extensions.ts";
import { newHostResolver } from "../../services/outgoing.ts";
import { DiskWatch } from "../../services/platform/admission/disk.ts";
import { Modes } from "../../services/platform/admission/modes.ts";
import { Traffic } from "../../services/platform/usage/traffic.ts";
import { StorageUsage } from "../../services/platform/usage/usage.ts";
import type { Runtime } from "../../services/runtime.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { guardBlobs } from "../../storage/blobs/guarded.ts";
import type { Store } from "../../storage/connection.ts";
import { unread } from "./audit.ts";

const FAR = Number.MAX_SAFE_INTEGER;

/** Callers of a gateway under test: `Authorization: Bearer <name>`. */
export const CALLERS: Record<string, Caller> = {
  ann: agent("ag_ann", "tn_one", ["send", "admin"]),
  bob: agent("ag_bob", "tn_one", ["receive"]),
  cyd: agent("ag_cyd", "tn_two", ["send"]),
  ada: user("usr_ada", "tn_one", "member"),
};

export interface TestGateway {
  /** Where it listens: `http://127.0.0.1:PORT`. */
  root: string;
  /** Base URL of the API. */
  url: string;
  broker: ServiceBroker;
  stop(): Promise<void>;
}

interface GatewayOptions {
  operations: readonly Operation[];
  services: ServiceSchema[];
  env?: Record<string, string>;
  /** An open store; idempotency runs when there is one. */
  store?: Store;
  /** Stores large answers, in addition to a store. */
  blobs?: Blobs;
  deps?: Partial<GatewayDeps>;
}

/** The real gateway over real HTTP on a free port, with other services than the product's behind it. */
export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const { operations, services, env = {}, store, blobs, deps } = options;
  const config = readAllSettings({ PORT: "0", LOG_LEVEL: "fatal", RATE_LIMIT_PER_MINUTE: "0", ...env });
  const [log, health] = [createLog(config), new Health()];
  const modes = new Modes(log, config.LOG_LEVEL, health);
  const observability = { log, health, modes, disk: new DiskWatch(".", 0) };
  const secrets = new SecretBox(Buffer.alloc(32, 7));
  const usage = store
    ? new StorageUsage({ store, blobs: blobs as Blobs, defaultMb: config.TENANT_STORAGE_MB })
    : ({ require: () => undefined } as unknown as StorageUsage);
  const traffic = (store && new Traffic(store, config)) as Traffic;
  const guarded = blobs && guardBlobs(blobs, [usage.claim]);
  const opened = { store: store as Store, blobs: guarded as Blobs };
  const resolver = newHostResolver([]);
  const runtime: Runtime = {
    ...{ config, secrets, ...opened, usage, traffic, resolver, windows: null },
    ...observability,
    hooks: {},
  };
  const broker = new ServiceBroker(brokerOptions(config, observability));
  for (const service of services) broker.createService(service);
  broker.createService(unread);
  if (store) broker.createService(idempotencyService(runtime));
  const callers = {
    resolve: resolveCaller,
    watch: () => () => {},
    forget: () => {},
    start: () => {},
    stop: () => {},
  };
  broker.createService(gateway(runtime, operations, () => ({ callers, streams: {}, ...deps })));
  await broker.start();
  const { origin: root } = (await broker.call("gateway.address")) as { origin: string };
  const stop = async () => {
    await broker.broadcastLocal("node.stopping");
    await broker.stop();
  };
  return { root, url: `${root}/v1`, broker, stop };
}

function resolveCaller({ headers }: IncomingMessage): Caller {
  const caller = CALLERS[headers.authorization?.replace("Bearer ", "") ?? ""];
  if (caller) return caller;
  throw new Fault("authentication_failed", "This needs a bearer token.");
}

function agent(agent_id: string, tenant_id: string, scopes: AgentCaller["scopes"]): AgentCaller {
  return {
    ...{ kind: "agent", agent_id, team_id: null, key_id: "key_1", token_version: 0, tenant_id, scopes },
    token_id: "jti_1",
    expires_at: FAR,
  };
}

function user(user_id: string, tenant_id: string, role: "admin" | "member"): UserCaller {
  return {
    ...{ kind: "user", user_id, role, tenant_id, scopes: ["send"], token_version: 1, session_id: "sid_2" },
    token_id: "jti_2",
    expires_at: FAR,
  };
}
