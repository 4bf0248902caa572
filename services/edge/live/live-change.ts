import type { ServiceBroker } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { resourceOf } from "../../../mixins/audited.ts";

/** Payload of the broker event `live.changed`, sent to every node: pages that show the resource reload it. */
export interface LiveChange {
  tenant_id: string;
  /** A domain's resource (`run`). */
  resource: string;
  /** The ids; empty unless everyone in the tenant may know of them. */
  ids: string[];
}

type Teller = Pick<ServiceBroker, "broadcast">;

/** Changes without ids within this time are sent as one. */
const GATHER_MS = 200;
/** Changes that will be sent, as `tenant resource`. */
const gathering = new WeakMap<Teller, Set<string>>();

/** Notifies those who watch the tenant (`GET /live`) of a change. It may be lost with its node. */
export function tellLive(broker: Teller, tenant_id: string, resource: string, ids: string[] = []): void {
  const tell = () => void broker.broadcast("live.changed", { tenant_id, resource, ids } satisfies LiveChange);
  if (ids.length > 0) {
    tell();
    return;
  }
  const pending = gathering.get(broker) ?? new Set();
  const key = `${tenant_id} ${resource}`;
  if (pending.has(key)) return;
  gathering.set(broker, pending.add(key));
  const send = () => {
    pending.delete(key);
    tell();
  };
  setTimeout(send, GATHER_MS).unref();
}

/** Resources whose changes are reported elsewhere: by ids, or with the statistics. */
const ELSEWHERE = ["run", "event", "delivery"];

/** Reports the change of the operation's resource after its handler has succeeded. */
export function reported<P>(
  { action, method, reads, access }: Pick<Operation, "action" | "method" | "reads" | "access">,
  handler: (ctx: Call<P>) => unknown,
): (ctx: Call<P>) => unknown {
  const resource = resourceOf(action);
  if (method === "GET" || reads || access.by === "operator" || ELSEWHERE.includes(resource)) return handler;
  return async (ctx) => {
    const result = await handler(ctx);
    const { caller } = ctx.meta as Partial<Call["meta"]>;
    if (caller) tellLive(ctx.broker, caller.tenant_id, resource);
    return result;
  };
}
