import type { Context, ServiceBroker } from "moleculer";
import { type Fault, unauthenticated } from "../../../lib/contract/faults.ts";
import type { TenantState } from "./tenants.contract.ts";

type Caller = Pick<Context | ServiceBroker, "call">;

/** Returns a tenant, whatever its status; undefined without one. */
export async function findTenant(from: Caller, tenant_id: string): Promise<TenantState | undefined> {
  const [tenant] = await from.call<TenantState[], unknown>("tenants.get_many", { tenant_ids: [tenant_id] });
  return tenant;
}

/** Returns the ids of the active ones among the tenants of some rows. */
export async function activeTenants(
  from: Caller,
  rows: readonly { tenant_id: string }[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const tenant_ids = [...new Set(rows.map(({ tenant_id }) => tenant_id))];
  const tenants = await from.call<TenantState[], unknown>("tenants.get_many", { tenant_ids });
  return new Set(tenants.filter(({ status }) => status === "active").map(({ id }) => id));
}

/** Returns the fault for those whose key, token or password is right, and whose tenant is suspended. Nobody else gets it. */
export function tenantSuspended(): Fault {
  const message =
    "The organisation is suspended by the operator of this service. Its data is kept: ask the operator to activate it, then sign in again.";
  return unauthenticated(message, { reason: "suspended" });
}
