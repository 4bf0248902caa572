import type { ActionSchema, Middleware, ServiceBroker } from "moleculer";
import type { Call, Handler } from "../lib/access/caller.ts";
import { type Operation, resourceOf } from "../lib/contract/contract.ts";

/** Payload of the broker event `live.changed`, sent to every node: pages that show the resource reload it. */
export interface LiveChange {
  tenant_id: string;
  /** A domain's resource (`run`). */
  resource: string;
  /** The ids; empty unless everyone in the tenant may know of them. */
  ids: string[];
}

/** Resources whose changes are reported by ids, or with the statistics. */
const ELSEWHERE = ["run", "event", "delivery"];

/** Returns the part of an operation's action that has its resource reported as changed. */
export function changesOf({ action, method, reads, access }: Operation): { changes?: string } {
  const resource = resourceOf(action);
  if (method === "GET" || reads || access.by === "operator" || ELSEWHERE.includes(resource)) return {};
  return { changes: resource };
}

/** Reports an action's resource (`changes`) after it succeeded. An internal action names the tenant in its params. */
export const liveChanges: Middleware = {
  name: "LiveChanges",
  localAction(next: Handler, { changes, visibility }: ActionSchema & { changes?: string }) {
    if (changes === undefined) return next;
    return async (ctx: Call<{ tenant_id?: string }>) => {
      const result = await next(ctx);
      const { caller } = ctx.meta as Partial<Call["meta"]>;
      const tenant_id = visibility === "published" ? caller?.tenant_id : ctx.params.tenant_id;
      if (tenant_id !== undefined) reportChange(ctx.broker, tenant_id, changes);
      return result;
    };
  },
};

type Reporter = Pick<ServiceBroker, "broadcast">;

/** Changes without ids within this time are sent as one. */
const GATHER_MS = 200;
/** Changes that will be sent, as `tenant resource`. */
const gathering = new WeakMap<Reporter, Set<string>>();

/** Notifies those who watch the tenant (`GET /live`) of a change. It may be lost with its node. */
export function reportChange(
  broker: Reporter,
  tenant_id: string,
  resource: string,
  ids: string[] = [],
): void {
  const send = () => void broker.broadcast("live.changed", { tenant_id, resource, ids } satisfies LiveChange);
  if (ids.length > 0) {
    send();
    return;
  }
  const pending = gathering.get(broker) ?? new Set();
  const key = `${tenant_id} ${resource}`;
  if (pending.has(key)) return;
  gathering.set(broker, pending.add(key));
  const sendLater = () => {
    pending.delete(key);
    send();
  };
  setTimeout(sendLater, GATHER_MS).unref();
}
