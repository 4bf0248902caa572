import { derivedId } from "../../../lib/ids.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { ENRICHMENT_DEPTHS } from "./interests.contract.ts";
import type { Subscription } from "./subscription.ts";

/** What an agent wants to receive (spec: Interest). */
export interface InterestDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  agent_id: t.string(),
  /** A glob over event types. */
  event_type: t.string(),
  /** A CEL predicate, or null if the type alone decides. */
  filter_expression: t.nullable(t.string()),
  /** 0..9; polls take 9 first. */
  priority: t.number(),
  enrichment_depth: t.oneOf(ENRICHMENT_DEPTHS),
  /** Of its deliveries; null, or absent in rows from before this was there: the agent's. */
  retry_delays_seconds: t.optional(t.nullable(t.array(t.number()))),
  /** Path of the value by which its deliveries are ordered; null, or absent in older rows: none. */
  ordering_key: t.optional(t.nullable(t.string())),
  /** Derives from agent, type and filter: an agent has each combination once. */
  conflict_key: t.string(),
  /** Since when it has matched no event; absent once it has, and in rows from before this was recorded. */
  unmatched_since: t.optional(t.date()),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ tenant_id: 1, conflict_key: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, created_at: 1 });
schema.index({ tenant_id: 1, unmatched_since: 1 });

export const InterestModel: Model<InterestDoc> = {
  erasure: { none: "event types and filters; ends with its agent", owner: ["agent_id"] },
  move: { stage: 0 },
  name: "interests",
  ids: "int",
  schema,
};

export function conflictKey(agent_id: string, event_type: string, filter_expression: string | null): string {
  return derivedId("int", agent_id, event_type, filter_expression ?? "");
}

/** Converts an interest to a subscription. */
export function toSubscription(row: InterestDoc): Subscription & { kind: "interest" } {
  const { _id: id, agent_id, event_type: glob, filter_expression, priority, unmatched_since } = row;
  return {
    id,
    kind: "interest",
    agent_id,
    glob,
    priority,
    ...(unmatched_since && { unmatched: true }),
    ...(filter_expression !== null && { filter: filter_expression }),
  };
}
