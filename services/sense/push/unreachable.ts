import type { TenantCollection } from "../../../storage/collection.ts";
import type { Unreachable } from "../deliveries/health/health.ts";
import { failedAt } from "./breaker.ts";
import type { PushEndpointDoc } from "./push.model.ts";

/** Returns a tenant's unreachable endpoints, or those of some agents. */
export async function findUnreachable(
  endpoints: TenantCollection<PushEndpointDoc>,
  { tenant_id, agent_ids }: { tenant_id: string; agent_ids?: string[] },
): Promise<Unreachable[]> {
  const rows = await endpoints.find(tenant_id, agent_ids ? { _id: { $in: agent_ids } } : {}, { limit: 1000 });
  return rows.map(({ _id, endpoint, opened_at, next_probe_at, probes, last_error }) => ({
    agent_id: _id,
    endpoint,
    since: opened_at.toISOString(),
    failed_at: new Date(failedAt({ next_probe_at: next_probe_at.getTime(), probes })).toISOString(),
    error: last_error,
  }));
}
