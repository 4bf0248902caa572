import type { Call } from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import { present, toState } from "./agent.ts";
import type { AgentDoc } from "./agents.model.ts";
import type { DeliveryHealth } from "./delivery-health.contract.ts";

export const BY_AGE = { created_at: 1, _id: 1 } as const;

interface Page {
  limit?: number;
  offset?: number;
  needs_attention?: boolean;
}

/** Formats agents for callers, with the health of their deliveries if they asked for it. */
export async function presentAll(ctx: Call, rows: AgentDoc[], { include }: { include?: "delivery" }) {
  if (include === undefined || rows.length === 0) return rows.map(present);
  const { tenant_id } = ctx.meta.caller;
  const params = { tenant_id, agents: rows.map(toState) };
  const health = await ctx.call<Record<string, DeliveryHealth>, object>("deliveries.health", params);
  return rows.map((row) => ({ ...present(row), delivery: health[row._id] }));
}

/** Returns a page of the agents that need attention, the worst first; unless only they are wanted, the others follow. */
export async function pageByAttention(
  ctx: Call,
  agents: TenantCollection<AgentDoc>,
  filter: Where<AgentDoc>,
  { limit = 50, offset = 0, needs_attention = false }: Page,
): Promise<{ rows: AgentDoc[]; total: number }> {
  const { tenant_id } = ctx.meta.caller;
  const ids = await ctx.call<string[], object>("deliveries.agents_needing_attention", { tenant_id });
  const found = await agents.find(tenant_id, { ...filter, _id: { $in: ids } });
  const byId = new Map(found.map((row) => [row._id, row]));
  const needing = ids.flatMap((id) => byId.get(id) ?? []);
  const first = needing.slice(offset, offset + limit);
  if (needs_attention) return { rows: first, total: needing.length };
  const others = { ...filter, _id: { $nin: [...byId.keys()] } };
  const left = limit - first.length;
  const skip = Math.max(0, offset - needing.length);
  const [rest, count] = await Promise.all([
    left > 0 ? agents.find(tenant_id, others, { sort: BY_AGE, skip, limit: left }) : [],
    agents.count(tenant_id, others),
  ]);
  return { rows: [...first, ...rest], total: needing.length + count };
}
