import type { ActionSchema, Context, EventSchema, ServiceSchema } from "moleculer";
import type { Static, TObject, TProperties } from "typebox";
import type { Config } from "../config.ts";
import type { HostResolver } from "../connectors/host-resolver.ts";
import type { SharedWindows } from "../connectors/redis.ts";
import type { Call } from "../lib/access/caller.ts";
import type { Operation, ParamsOf } from "../lib/contract/contract.ts";
import type { SecretBox } from "../lib/crypto/secrets.ts";
import { shareOf } from "../lib/queue/fair-queue.ts";
import { asWork, noteServed, spend } from "../lib/queue/work.ts";
import { wrapsOf } from "../middlewares/operations.ts";
import type { Blobs } from "../storage/blobs/blobs.ts";
import type { Store } from "../storage/connection.ts";
import type { Hooks } from "./hooks.ts";
import type { Observability } from "./platform/system/observability.ts";
import { noteWork } from "./platform/usage/tally.ts";
import type { Traffic } from "./platform/usage/traffic.ts";
import type { StorageUsage } from "./platform/usage/usage.ts";

/** A node's dependencies for its services. */
export interface Runtime extends Observability {
  config: Config;
  store: Store;
  blobs: Blobs;
  /** Storage used by tenants, and their quotas. */
  usage: StorageUsage;
  /** The tenants' traffic over time. */
  traffic: Traffic;
  secrets: SecretBox;
  /** Resolves the hosts that tenants name. */
  resolver: HostResolver;
  /** Shared rate-limit counters of all nodes; null without `REDIS_URL`. */
  windows: SharedWindows | null;
  /** Functions of extensions for services. */
  hooks: Hooks;
}

/** Creates a domain's service for a node. */
export type ServiceFactory = (runtime: Runtime) => ServiceSchema;

/** The context of an operation's action. */
export type CallOf<O> = Call<ParamsOf<O>>;

/** Repeats the call on another node if the first one crashes (lib/broker/between-nodes.ts). */
const RETRIED_ON_ANOTHER_NODE = { retryPolicy: { enabled: true } };

/**
 * Builds the Moleculer action of an operation: its params are validated against the contract, and middlewares do what its
 * contract asks for (middlewares/operations.ts).
 */
export function action<P extends TProperties, Q extends TProperties, B extends TProperties>(
  op: Operation<P, Q, B>,
  handler: (ctx: Call<Static<TObject<P & Q & B>>>) => unknown,
): ActionSchema {
  return {
    visibility: "published",
    params: op.params as never,
    handler: measured(op.action, handler) as (ctx: Context) => unknown,
    ...wrapsOf(op as unknown as Operation),
    // A caller repeats a waiting call itself: it knows how long it still wants to wait.
    ...(op.method === "GET" && !op.waits && RETRIED_ON_ANOTHER_NODE),
  };
}

/** Work for a call besides its handler's own beginning, in milliseconds. */
const CALL_MS = 0.2;

/**
 * Carries out calls as work of their callers (lib/queue/work.ts). Notes what runs until the handler first waits, and a
 * constant for the rest.
 */
function measured<C extends Call, R>(action: string, handler: (ctx: C) => R): (ctx: C) => R {
  return (ctx) => {
    const { caller } = ctx.meta;
    if (!caller) return handler(ctx);
    return asWork(shareOf(caller), action, () => {
      const begun = performance.now();
      try {
        return handler(ctx);
      } finally {
        const ms = performance.now() - begun;
        spend(ms);
        noteWork(caller.tenant_id, CALL_MS + ms);
      }
    });
  };
}

/** Builds an action for other services only: no contract, no route. */
export function internal<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  return { visibility: "public", handler: handler as (ctx: Context) => unknown };
}

/** Builds the action of an operation that checks its params itself, or has none. */
export function unchecked<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  const served = (ctx: Call<P>) => {
    if (ctx.meta.caller) noteServed(ctx.meta.caller.tenant_id);
    return handler(ctx);
  };
  return { ...internal(served), visibility: "published" };
}

/** Builds an internal action that may safely run twice: see RETRIED_ON_ANOTHER_NODE. */
export function idempotent<P>(handler: (ctx: Call<P>) => unknown): ActionSchema {
  return { ...internal(handler), ...RETRIED_ON_ANOTHER_NODE };
}

/** Builds a handler of a broker event. The payload is the same from this node and from others. */
export function event<P>(handler: (payload: P) => unknown): EventSchema {
  return { context: true, handler: (ctx: Context<P>) => handler(ctx.params) } as EventSchema;
}
