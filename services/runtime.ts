import type { ActionSchema, Context, EventSchema, ServiceSchema } from "moleculer";
import type { Static, TObject, TProperties } from "typebox";
import type { Config } from "../config.ts";
import type { HostResolver } from "../connectors/host-resolver.ts";
import type { SharedWindows } from "../connectors/redis.ts";
import type { Call } from "../lib/access/caller.ts";
import { isAudited, type Operation } from "../lib/contract/contract.ts";
import type { SecretBox } from "../lib/crypto/secrets.ts";
import { audited } from "../mixins/audited.ts";
import { heavyRead } from "../mixins/heavy.ts";
import type { Observability } from "../observability/start.ts";
import type { Blobs } from "../storage/blobs/blobs.ts";
import type { Store } from "../storage/connection.ts";
import type { StorageUsage } from "../storage/usage/usage.ts";

/** What a node gives its services. */
export interface Runtime extends Observability {
  config: Config;
  store: Store;
  blobs: Blobs;
  /** What tenants store, and their quotas. */
  usage: StorageUsage;
  secrets: SecretBox;
  /** Resolves the hosts that tenants name. */
  resolver: HostResolver;
  /** What limits are counted in for all nodes; null without `REDIS_URL`. */
  windows: SharedWindows | null;
}

/** A domain's service, made for a node. */
export type ServiceFactory = (runtime: Runtime) => ServiceSchema;

/** The call is made again at another node when the one that had it died (lib/broker/between-nodes.ts). */
const AGAIN = { retryPolicy: { enabled: true } };

/**
 * The Moleculer action that carries out an operation: the contract's params are checked before the handler runs,
 * and what has to be accounted for is noted.
 */
export function action<P extends TProperties, Q extends TProperties, B extends TProperties>(
  op: Operation<P, Q, B>,
  handler: (ctx: Call<Static<TObject<P & Q & B>>>) => unknown,
): ActionSchema {
  const carriedOut = isAudited(op) ? audited(op, handler) : handler;
  const inTurn = (ctx: Parameters<typeof handler>[0]) => heavyRead(ctx as Call, () => carriedOut(ctx));
  return {
    visibility: "published",
    params: op.params as never,
    handler: (op.heavy ? inTurn : carriedOut) as (ctx: Context) => unknown,
    // What waits is asked for again by its caller, who knows how long it still wants to.
    ...(op.method === "GET" && !op.waits && AGAIN),
  };
}

/** An action for other services only: no contract, no route. */
export function internal<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  return { visibility: "public", handler: handler as (ctx: Context) => unknown };
}

/** An action for its own node only: other nodes do not know of it, and answer for themselves. */
export function local<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  return { ...internal(handler), visibility: "protected" };
}

/** An action of an operation that every gateway answers for itself. */
export function published<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  return { ...internal(handler), visibility: "published" };
}

/** An internal action that may run twice without harm: see AGAIN. */
export function idempotent<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  return { ...internal(handler), ...AGAIN };
}

/** A handler of a broker event. The payload comes from another node as it does from this one. */
export function event<P>(handler: (payload: P) => unknown): EventSchema {
  return { context: true, handler: (ctx: Context<P>) => handler(ctx.params) } as EventSchema;
}
