import type { ActionSchema, Middleware } from "moleculer";
import { type Call, callerId, type Handler } from "../lib/access/caller.ts";
import { resourceQueue } from "../observability/resources.ts";

/** Reads that scan much of a tenant's data: one slot always remains for another tenant. */
const reads = resourceQueue("heavy_read", {
  ...{ capacity: 4, perTenant: 3, perCaller: 2, chargeTime: true },
  // Below the timeout of a call between services.
  ...{ maxWaiting: 256, maxWaitingPerCaller: 32, patienceMs: 10_000 },
});

/** Queues the actions whose schema has `heavy`. */
export const heavyReads: Middleware = {
  name: "HeavyReads",
  localAction(next: Handler, { heavy }: ActionSchema & { heavy?: boolean }) {
    return heavy ? (ctx: Call) => heavyRead(ctx, () => next(ctx)) : next;
  },
};

/**
 * Queues a read whose cost grows with the tenant's data. Internal calls are not queued.
 *
 * @throws Fault rate_limited, service_unavailable
 */
export async function heavyRead<T>(
  { meta: { caller } }: Pick<Call, "meta">,
  task: () => T,
): Promise<Awaited<T>> {
  if (!caller) return task() as Awaited<T>;
  return reads.run({ tenant_id: caller.tenant_id, caller: callerId(caller) }, 1, task) as Promise<Awaited<T>>;
}
