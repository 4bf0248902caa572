import { derivedId } from "../../../lib/ids.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { ENRICHMENT_DEPTHS } from "./interests.contract.ts";
import type { Subscription } from "./receiver.ts";

/** Events an agent wants to receive (spec: Interest). */
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

/** An event as its waiter sees it. */
export interface AwaitedEvent {
  /** Its id here, `evt_…`. */
  id: string;
  type: string;
  source: string;
  subject: string | null;
}

/** A wait of another domain for one event: the first that matches is recorded in the row, until the owner has it. */
export interface WaitDoc extends DocumentOf<typeof waitSchema> {}

const waitSchema = tenantSchema({
  /** The waiting owner, such as a run; and its version that began to wait. */
  owner_id: t.string(),
  version: t.number(),
  /** The action that takes the event, with the row's `owner_id`, `key` and id. */
  action: t.oneOf(["runs.receive"]),
  /** Names the part of the owner that waits. */
  key: t.string(),
  event_type: t.string(),
  filter_expression: t.nullable(t.string()),
  /** Events that were accepted earlier do not count. */
  since: t.date(),
  /** The agent or person for whom it waits: decides about events with an audience. */
  reader_id: t.string(),
  event: t.optional(t.mixed<AwaitedEvent>()),
  /** When to pass the event on; set with it. */
  notify_at: t.optional(t.date()),
});
waitSchema.index({ tenant_id: 1, _id: 1 });
waitSchema.index({ tenant_id: 1, owner_id: 1, version: 1 });
waitSchema.index({ notify_at: 1 }, { sparse: true });

export const WaitModel: Model<WaitDoc> = {
  erasure: { none: "event types and filters; ends with the step that waits" },
  // After the runs that take the events.
  move: { stage: 2 },
  name: "event_waits",
  schema: waitSchema,
};

export function waitSubscription(row: WaitDoc): Subscription {
  const { _id: id, event_type: glob, filter_expression, since, reader_id } = row;
  const filter = filter_expression === null ? {} : { filter: filter_expression };
  return { id, kind: "wait", glob, priority: 0, begun_at: since.getTime(), reader_id, ...filter };
}
