import type { ServiceBroker } from "moleculer";
import { MESSAGE_BYTES, pagesBySize, upToSize } from "../../../lib/broker/between-nodes.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { ENRICHMENT_DEPTHS } from "../interests/interests.contract.ts";
import type { Matched } from "./deliveries.contract.ts";

/**
 * - `ready`: the next poll may claim it. `leased`: delivered, not settled yet, until `due_at`.
 * - `waiting`: returned, ready again at `due_at`; or held behind an earlier one of its key (`Ordering`), without `due_at`.
 * - `acknowledged`: done.
 * - `dead`: in the dead-letter queue. `discarded`: deleted from there; kept so that a replay does not deliver it again.
 *
 * The first three are the specification's "pending".
 */
const STATES = ["ready", "leased", "waiting", "acknowledged", "dead", "discarded"] as const;
export type DeliveryState = (typeof STATES)[number];

export const PENDING: DeliveryState[] = ["ready", "leased", "waiting"];
export const OVER: DeliveryState[] = ["acknowledged", "dead", "discarded"];

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

/** Data that its inlet needs to retry a mapping that failed. */
export interface Origin {
  inlet: "ingest" | "connectors";
  registration_id: string;
  /** The event's id if the mapping sets none. */
  default_id: string;
  headers: Record<string, string | null | undefined>;
  /** It was declared a CloudEvent. */
  structured?: boolean;
}

/** An unmapped payload that its inlet maps again. */
export interface Again extends Omit<Origin, "inlet"> {
  tenant_id: string;
  payload: unknown;
  /** When it was received, in ms. */
  received_at: number;
}

/** Limit of entries, the latest kept: a delivery may be attempted a hundred times. */
const TIMELINE_ENTRIES = 20;

/** Fields that a delivery loses when its lease ends, and when it is settled. */
export const UNLEASED = { due_at: 1, lease: 1, slot_key: 1 } as const;
export const SETTLED = { ...UNLEASED, held_key: 1, active_key: 1 } as const;

/** Leaves out what may be long. */
export const BRIEF = { payload_json: 0, origin: 0, log: 0 } as const;
export const SHORTEST = { ...BRIEF, timeline: 0 } as const;

/** Returns the `$push` of an update that appends to the timeline. */
export function timelinePush(...entries: TimelineEntry[]) {
  return { timeline: { $each: entries, $slice: -TIMELINE_ENTRIES } };
}

/** One event for one agent. `_id` derives from both, so a repeated fan-out never creates a second. */
export interface DeliveryDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** Null, like `event_id`, for a broker's message that could not be mapped (dead from the start). */
  agent_id: t.nullable(t.string()),
  event_id: t.nullable(t.string()),
  state: t.oneOf(STATES),
  priority: t.number(),
  created_at: t.date(),
  /** Delivery attempts so far. */
  attempt_count: t.number(),
  /** Bytes of the event, or of the unmapped payload, as JSON; 0 if unknown. */
  size: t.number(),
  /** The event's type, for statistics; absent on unmapped payloads and on tombstones. */
  type: t.optional(t.string()),
  matched: t.mixed<Matched>(),
  enrichment_depth: t.oneOf(ENRICHMENT_DEPTHS),
  /** Of the interests that matched; absent: the agent's. */
  retry_delays_seconds: t.optional(t.array(t.number())),
  /** The replay of history that it was created or queued again by. */
  replay_id: t.optional(t.string()),
  timeline: t.texts(t.mixed<TimelineEntry[]>(), "reason"),
  /** The agent's log of the last settled attempt that has one, and when. */
  log: t.optional(t.large(t.text())),
  log_at: t.optional(t.date()),
  /** End of the lease or wait. Set only on rows that the sweep must examine. */
  due_at: t.optional(t.date()),
  /** Token of the claim that leased it. */
  lease: t.optional(t.string()),
  /** `<agent> <digest of its key's value> <event's position>` while held, then the first two while it may be delivered. */
  held_key: t.optional(t.string()),
  active_key: t.optional(t.string()),
  /** `<agent> <number>` while leased, of an agent with a limit of deliveries in flight. */
  slot_key: t.optional(t.string()),

  dlq_reason: t.optional(t.text()),
  dead_lettered_at: t.optional(t.date()),
  /** `<tenant> <time of death>`, `<agent> <time of death>` and `<tenant> <reason>`: see `deadFields`. */
  dlq_key: t.optional(t.string()),
  dlq_agent_key: t.optional(t.string()),
  dlq_reason_key: t.optional(t.text()),
  /** Outbox: time of death until `service.delivery.dead_lettered` is published. */
  announce_at: t.optional(t.date()),
  /** Outbox: set while a requested replay is pending. */
  replay_at: t.optional(t.date()),
  /** The payload that never was an event, as JSON text: its keys could have a meaning to the store. */
  payload_json: t.optional(t.large(t.texts(t.json()))),
  source: t.optional(t.string()),
  origin: t.optional(t.large(t.texts(t.mixed<Origin>(), "headers", "default_id"))),

  /** When an acknowledged row is reduced to a tombstone, or one without an event is deleted. */
  retire_at: t.optional(t.date()),
});

// A poll reads the first rows of this index for one agent. Its prefix counts a tenant's rows.
schema.index({ tenant_id: 1, state: 1, agent_id: 1, priority: -1, created_at: 1 });
// One delivery of a key at a time: a second one is refused.
schema.index({ active_key: 1 }, { unique: true, sparse: true });
schema.index({ slot_key: 1 }, { unique: true, sparse: true });
// Sparse and of one field each: a compound index would hold every row, because every row has a tenant.
for (const field of [
  "due_at",
  "held_key",
  "dlq_key",
  "dlq_agent_key",
  "dlq_reason_key",
  "announce_at",
  "replay_at",
  "retire_at",
] as const) {
  schema.index({ [field]: 1 }, { sparse: true });
}

type Dead = Pick<DeliveryDoc, "tenant_id" | "agent_id" | "dead_lettered_at" | "dlq_reason">;

/** Returns the keys of a dead letter by which lists find it: all sparse, of one field each. */
export function deadKeys({ tenant_id, agent_id, dead_lettered_at, dlq_reason }: Dead) {
  const at = dead_lettered_at as Date;
  return {
    dlq_key: deadKey(tenant_id, at),
    ...(agent_id && { dlq_agent_key: deadKey(agent_id, at) }),
    dlq_reason_key: reasonKey(tenant_id, dlq_reason as string),
  };
}

export function deadKey(owner: string, at: Date): string {
  return `${owner} ${at.toISOString()}`;
}

export function reasonKey(tenant_id: string, reason: string): string {
  return `${tenant_id} ${reason}`;
}

/** Returns the keys that are unique, or sorted, among all agents, as those of the delivery's own agent. */
function ownKeys({ agent_id, active_key, slot_key, held_key }: DeliveryDoc): Partial<DeliveryDoc> {
  const own = (key: string) => `${agent_id} ${key.slice(key.indexOf(" ") + 1)}`;
  return {
    ...(active_key && { active_key: own(active_key) }),
    ...(slot_key && { slot_key: own(slot_key) }),
    ...(held_key && { held_key: own(held_key) }),
  };
}

export const DeliveryModel: Model<DeliveryDoc> = {
  erasure: { replaced: { of: ["agent_id"] }, owner: ["agent_id"] },
  move: { stage: 3 },
  anew: (row) => ({ ...ownKeys(row), ...(row.state === "dead" && row.dead_lettered_at && deadKeys(row)) }),
  name: "deliveries",
  ids: "dlv",
  schema,
  packed: true,
};

/**
 * Returns the id of an event's delivery to an agent, always the same. It starts with the event's id, which grows with
 * time, so that new rows come last in the index and those of one event are adjacent.
 */
export function deliveryId(event_id: string, agent_id: string): string {
  return `dlv_${event_id.slice("evt_".length)}-${agent_id.slice("ag_".length)}`;
}

/** Returns the event of a delivery by its id; of an unmapped payload's, the id of no event. */
export function eventOf(delivery_id: string): string {
  const part = delivery_id.slice("dlv_".length);
  const end = part.indexOf("-");
  return `evt_${end === -1 ? part : part.slice(0, end)}`;
}

/** Filters all deliveries of an event: their ids share its part up to the hyphen, which "." follows. */
export function ofEvent(event_id: string) {
  const part = event_id.slice("evt_".length);
  return { _id: { $gt: `dlv_${part}-`, $lt: `dlv_${part}.` } };
}

interface Sized {
  size: number;
}

const sizeOf = ({ size }: Sized) => size;

/** Limits deliveries to the size of one answer; the first may be larger. */
export const upToBytes = <T extends Sized>(docs: T[], most = MESSAGE_BYTES) =>
  upToSize(docs, sizeOf, Math.min(most, MESSAGE_BYTES));

/** Splits deliveries into batches that fit into one call between nodes. */
export const inBatches = <T extends Sized>(docs: T[]) => pagesBySize(docs, sizeOf, MESSAGE_BYTES);

export interface DeliveryDeps {
  broker: ServiceBroker;
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
}
