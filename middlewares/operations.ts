import type { ActionSchema, Middleware } from "moleculer";
import { type Call, callerId, type Handler } from "../lib/access/caller.ts";
import type { Operation } from "../lib/contract/contract.ts";
import { resourceQueue } from "../observability/resources.ts";
import { audit, auditOf } from "./audit.ts";
import { changesOf, liveChanges } from "./live-changes.ts";

const PROJECT = "project_id";

/** Refuses a project that does not exist, wherever it is named: in what is saved and in filters. Empty is none. */
const projects: Middleware = {
  name: "Projects",
  localAction(next: Handler, { inProject }: ActionSchema & { inProject?: boolean }) {
    if (!inProject) return next;
    return async (ctx: Call<{ [PROJECT]?: string | null }>) => {
      const { tenant_id } = ctx.meta.caller;
      const key = ctx.params[PROJECT];
      if (key) await ctx.call("projects.require", { tenant_id, key });
      return next(ctx);
    };
  },
};

/** Reads that scan much of a tenant's data: one slot always remains for another tenant. */
const reads = resourceQueue("heavy_read", {
  ...{ capacity: 4, perTenant: 3, perCaller: 2, chargeTime: true },
  // Below the timeout of a call between services.
  ...{ maxWaiting: 256, maxWaitingPerCaller: 32, patienceMs: 10_000 },
});

/** Queues the actions whose schema has `heavy`. */
const heavyReads: Middleware = {
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

/** What wraps the actions of operations, the innermost first. Each reads its property of the action's schema. */
export const operationMiddlewares: Middleware[] = [audit, liveChanges, heavyReads, projects];

/** Returns the properties of an operation's action that the middlewares read. */
export function wrapsOf(op: Operation) {
  return {
    ...auditOf(op),
    ...changesOf(op),
    ...(op.heavy && { heavy: true }),
    ...(PROJECT in op.params.properties && { inProject: true }),
  };
}
