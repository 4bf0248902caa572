import { HostResolver } from "../connectors/host-resolver.ts";
import { resourceQueue } from "../observability/resources.ts";

/**
 * Creates a resolver whose look-ups are shared fairly between tenants. @param servers name servers; empty for those of
 * the system
 */
export function newHostResolver(servers: readonly string[]): HostResolver {
  const queue = resourceQueue("dns", {
    ...{ capacity: 256, perTenant: 64, perCaller: 2 },
    ...{ maxWaiting: 2_000, maxWaitingPerCaller: 20, patienceMs: 10_000 },
  });
  const systemQueue = resourceQueue("dns_system", {
    ...{ capacity: 2, perTenant: 1 },
    ...{ maxWaiting: 200, maxWaitingPerCaller: 2, patienceMs: 5_000 },
  });
  return new HostResolver({ servers, queue, systemQueue });
}
