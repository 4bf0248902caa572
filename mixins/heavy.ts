import { type Call, callerId } from "../lib/access/caller.ts";
import { resourceQueue } from "../observability/resources.ts";

/** Reads that walk over much of what a tenant has: one is always left for another tenant. */
const reads = resourceQueue("heavy_read", {
  ...{ capacity: 4, perTenant: 3, perCaller: 2, chargeTime: true },
  // Less than a call between services may take.
  ...{ maxWaiting: 256, maxWaitingPerCaller: 32, patienceMs: 10_000 },
});

/**
 * Carries out a read whose cost follows the tenant's data when it is its caller's turn. What services do of themselves
 * does not wait.
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
