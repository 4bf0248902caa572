import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { checkFilter, checkGlob } from "../../../lib/contract/subscription.ts";
import type { createInterest, updateInterest } from "./interests.contract.ts";
import type { InterestDoc } from "./interests.model.ts";
import { interestSubscription } from "./routing.ts";
import type { RoutingChange } from "./routing-change.ts";

export type CreateParams = ParamsOf<typeof createInterest>;
export type UpdateParams = ParamsOf<typeof updateInterest>;

/** Rejects an invalid glob or filter. @throws Fault validation_error */
export function check({ event_type, filter_expression }: Partial<CreateParams>): void {
  if (event_type !== undefined) checkGlob("event_type", event_type);
  checkFilter("filter_expression", filter_expression);
}

const CHANGEABLE = ["event_type", "filter_expression", "priority", "enrichment_depth"] as const;

export function changesOf(params: UpdateParams): Partial<InterestDoc> {
  const given = CHANGEABLE.filter((field) => params[field] !== undefined);
  return Object.fromEntries(given.map((field) => [field, params[field]]));
}

export function subscribed(row: InterestDoc, agent_active: boolean): RoutingChange {
  return {
    kind: "subscribe",
    subscription: interestSubscription(row),
    depth: row.enrichment_depth,
    agent_active,
  };
}

/** Formats an interest for callers. `suspended_until`: in ms since the epoch, while its filter is suspended. */
export function present(row: InterestDoc, suspended_until: number | null) {
  return {
    id: row._id,
    agent_id: row.agent_id,
    event_type: row.event_type,
    filter_expression: row.filter_expression,
    priority: row.priority,
    enrichment_depth: row.enrichment_depth,
    filter_suspended_until: suspended_until === null ? null : new Date(suspended_until).toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
