import { HostResolver, PER_TENANT } from "../connectors/host-resolver.ts";
import { resourceQueue } from "../observability/resources.ts";

/**
 * Creates a resolver whose look-ups are shared fairly between tenants. @param servers name servers; empty for those of
 * the system
 */
export function newHostResolver(servers: readonly string[]): HostResolver {
  const queue = resourceQueue("dns", {
    ...{ capacity: 256, perTenant: PER_TENANT, perCaller: 2 },
    ...{ maxWaiting: 2_000, maxWaitingPerCaller: 20, patienceMs: 10_000 },
  });
  return new HostResolver({ servers, queue });
}
