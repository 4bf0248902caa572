import type { ServiceBroker } from "moleculer";
import type { StorageUsage } from "../../../storage/usage/usage.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { ScheduleDoc } from "./schedules.model.ts";

interface HoldingDeps {
  broker: Pick<ServiceBroker, "call">;
  usage: Pick<StorageUsage, "isFull">;
}

/**
 * Returns why a schedule may not publish now, or null. What its owner could not publish by a request it does not publish
 * by a schedule either.
 */
export async function reasonToHold(
  { broker, usage }: HoldingDeps,
  { tenant_id, owner_id }: Pick<ScheduleDoc, "tenant_id" | "owner_id">,
): Promise<string | null> {
  const [tenants, isActive] = await Promise.all([
    broker.call<TenantState[], unknown>("tenants.get_many", { tenant_ids: [tenant_id] }),
    isActiveOwner(broker, tenant_id, owner_id),
  ]);
  if (tenants[0]?.status !== "active") return "The organisation is suspended.";
  if (!isActive) return `Its owner, ${owner_id}, is not active.`;
  return usage.isFull(tenant_id) ? "The organisation has reached its storage quota." : null;
}

async function isActiveOwner(
  broker: Pick<ServiceBroker, "call">,
  tenant_id: string,
  owner_id: string,
): Promise<boolean> {
  if (owner_id.startsWith("usr_")) {
    const found = await broker.call<unknown[], unknown>("users.of_tokens", { user_ids: [owner_id] });
    return found.length > 0;
  }
  const asked = { tenant_id, agent_ids: [owner_id] };
  const [agent] = await broker.call<{ status: string }[], unknown>("agents.get_many", asked);
  return agent?.status === "active";
}
