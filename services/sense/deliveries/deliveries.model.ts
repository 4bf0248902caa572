import type { InferSchemaType } from "mongoose";
import {
  date,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";

/**
 * - `ready`: the next poll may take it. `leased`: handed out, not yet settled, until `due_at`.
 * - `waiting`: handed back, ready again at `due_at`. `acknowledged`: done.
 * - `dead`: in the dead-letter queue. `discarded`: deleted from there; kept so that a replay does not give it again.
 *
 * The first three are the specification's "pending".
 */
export type DeliveryState = "ready" | "leased" | "waiting" | "acknowledged" | "dead" | "discarded";

export const PENDING: DeliveryState[] = ["ready", "leased", "waiting"];

/** Which of the receiver's interests and channel feeds matched. */
export interface Matched {
  interest_ids: string[];
  feed_ids: string[];
}

export type EnrichmentDepth = "none" | "shallow" | "deep";

export interface TimelineEntry {
  at: Date;
  what:
    | "handed_out"
    | "nacked"
    | "returned"
    | "lease_expired"
    | "acknowledged"
    | "dead"
    | "replayed"
    | "discarded";
  reason?: string;
}

/** What its inlet needs to map once more what it could not map. */
export interface Origin {
  /** The service that took it. */
  inlet: "ingest" | "connectors";
  registration_id: string;
  /** The event's id where the mapping names none. */
  default_id: string;
  headers: Record<string, string | undefined>;
  /** It said that it is a CloudEvent. */
  structured?: boolean;
}

/** The last so many entries are kept: a delivery may be handed out a hundred times. */
export const TIMELINE_ENTRIES = 20;

/** One event for one agent. `_id` derives from both, so that no fan-out, however often repeated, makes a second. */
export interface DeliveryDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** Null together with `event_id` where a broker's message could not be mapped (dead from the start). */
  agent_id: nullable(string()),
  event_id: nullable(string()),
  state: string<DeliveryState>(),
  priority: number(),
  created_at: date(),
  /** Hand-outs so far. */
  attempt_count: number(),
  /** Bytes of the event, or of what came in its place, as JSON; 0 where unknown. */
  size: number(),
  matched: mixed<Matched>(),
  enrichment_depth: string<EnrichmentDepth>(),
  timeline: mixed<TimelineEntry[]>(),
  /** When the lease ends or the wait is over. Only rows that the sweep must look at have it. */
  due_at: optional(date()),
  /** Token of the claim that leased it. */
  lease: optional(string()),

  dlq_reason: optional(string()),
  dead_lettered_at: optional(date()),
  /** `<tenant> <time of death>`, `<agent> <time of death>` and `<tenant> <reason>`: see `deadFields`. */
  dlq_key: optional(string()),
  dlq_agent_key: optional(string()),
  dlq_reason_key: optional(string()),
  /** Outbox: `service.delivery.dead_lettered` is still to be published. */
  announce_at: optional(date()),
  /** Outbox: a replay was asked for and is still to be carried out. */
  replay_at: optional(date()),
  /** Of what never was an event: what came, as JSON (what senders name their keys must not mean anything to a store). */
  payload_json: optional(string()),
  /** And from where. */
  source: optional(string()),
  origin: optional(mixed<Origin>()),

  /** When an acknowledged row is reduced to a tombstone, or one that never was an event is deleted. */
  retire_at: optional(date()),
});

// A poll: the first rows of this index for one agent, whatever else there is. Its prefix counts a tenant's rows.
schema.index({ tenant_id: 1, state: 1, agent_id: 1, priority: -1, created_at: 1 });
// Sparse and of one field each, because a compound index would hold every row: the tenant is always there.
for (const field of [
  "due_at",
  "dlq_key",
  "dlq_agent_key",
  "dlq_reason_key",
  "announce_at",
  "replay_at",
  "retire_at",
] as const) {
  schema.index({ [field]: 1 }, { sparse: true });
}

export const DeliveryModel: Model<DeliveryDoc> = { name: "deliveries", schema };
