import { type Static, Type } from "typebox";
import { component, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, Offset, Timestamp, Uuid } from "../../../lib/contract/schema.ts";
import { DELIVERY_COUNTS, LimitedBy } from "../../identity/agents/agents.contract.ts";

/** Limit of deliveries that one request receives or settles (spec: Limits). */
export const BATCH = 100;

export const MAX_WAIT_SECONDS = 30;

/**
 * How long a stream's claim waits: each is a statement and, between nodes, two messages. Deliveries, nodes that join or
 * leave, and the end of the stream end the wait.
 */
export const STREAM_WAIT_SECONDS = 300;

const receiver = { by: "agent", scope: "receive" } as const;
const reader = { by: "any", scope: "receive", people: "org_admin" } as const;

const DeliveryId = Id("dlv", "Id of the delivery, not of its event.");
const AgentId = Id("ag");
const Event = Type.Record(Type.String(), Type.Unknown(), { description: "The whole CloudEvent." });
export const Matched = component(
  "Matched",
  { interest_ids: Type.Array(Type.String()), feed_ids: Type.Array(Type.String()) },
  { description: "The agent's interests and the channel feeds that matched the event." },
);
export type Matched = Static<typeof Matched>;

const LEASE = "j3kQ0vXWz1Yt";

/** Limit of a delivery's log, in characters. */
const MAX_LOG = 16_384;

/** spec: DeliveryEvent, plus `lease`, `lease_expires_at` and `matched` (api.md Delivery). */
export const DeliveryEvent = component("DeliveryEvent", {
  id: DeliveryId,
  event_id: Type.String(),
  payload: Event,
  attempt_count: Type.Integer({ description: "Delivery attempts so far, from 1." }),
  created_at: Timestamp,
  lease: Type.String({
    description: "Identifies this attempt. Pass it when you reject or extend the delivery.",
    examples: [LEASE],
  }),
  lease_expires_at: Timestamp,
  matched: Matched,
  replay_id: Type.Optional(Uuid("replay", "Present if a replay of history delivers it.")),
});

const wanted = optional({
  limit: Type.Integer({
    default: BATCH,
    description: "Maximum number of deliveries, 1 to 100; other values are clamped.",
  }),
  wait: Type.Number({
    default: 0,
    description: "Seconds to wait for a first delivery, 0 to 30; other values are clamped.",
  }),
});

const received = { deliveries: Type.Array(DeliveryEvent), count: Type.Integer() };

const settled = {
  delivery_ids: Type.Array(Type.String(), {
    maxItems: BATCH,
    description: `Delivery ids, not event ids; at most ${BATCH}. Those that name no delivery are not counted.`,
    examples: [["dlv_4fXq1mCz8Jw0bT7kLr2N"]],
  }),
  lease: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description:
        "`lease` of the deliveries: one for all, or one for each in the order of `delivery_ids`. Attempts that have " +
        "ended then stay unchanged, as others may have their deliveries now; an acknowledgement counts in any case.",
      examples: [LEASE],
    }),
  ),
};

const log = Type.Optional(
  AnyText(
    MAX_LOG,
    "What the work has written, such as the end of a command's output; with one delivery id only. It is kept with " +
      "the delivery instead of an earlier attempt's, unless the organisation has reached its storage quota.",
    "3 pages printed\n[ended with 0]",
  ),
);

export const pollDeliveries = operation({
  action: "deliveries.poll",
  route: "GET /delivery/poll",
  summary: "Poll for deliveries",
  description:
    "Returns events that match the agent's interests and channels: highest priority first, then oldest (best " +
    "effort), at most 4 MB. Acknowledge each before `lease_expires_at`, or it is redelivered.",
  access: receiver,
  query: wanted,
  answer: Type.Object(received),
  waits: true,
  takes: true,
  mcp: {
    description:
      "Use this to receive events. Returns deliveries, highest priority first; acknowledge each by its `id` before `lease_expires_at`, or it is redelivered.",
    idempotent: false,
    destructive: false,
    core: ["limit", "wait"],
    aliases: {
      wait: ["wait_seconds", "timeout", "timeout_seconds"],
      limit: ["max", "count", "max_messages", "batch_size"],
    },
    whole: "events_get with the event_id of a delivery",
    answers: [
      "deliveries.id",
      "deliveries.event_id",
      "deliveries.payload",
      "deliveries.attempt_count",
      "deliveries.lease",
      "deliveries.lease_expires_at",
    ],
  },
});

const rejected = {
  ...settled,
  ...optional({
    delay_seconds: Type.Number({
      minimum: 0,
      maximum: 86_400,
      description:
        "Seconds before the retry; 0: at once. Default: the delays of the interest or the agent (±20 %), by attempt.",
    }),
    dead_letter: Type.Boolean({
      description: "Dead-letter them now, with attempts left: no retry can succeed. Default: false.",
    }),
    attempted: Type.Boolean({
      description:
        "False: nobody has worked on them, so the attempt does not count, and without `delay_seconds` they are ready at once. Default: true.",
    }),
    reason: AnyText(500, "Why it failed.", "billing is closed"),
  }),
};

const acknowledgedCount = { acknowledged: Type.Integer() };
const nackedCounts = {
  nacked: Type.Integer({ description: "Deliveries rejected." }),
  dead_lettered: Type.Integer({
    description: "Those dead-lettered, as their retry budget was spent or `dead_letter` was set.",
  }),
};

export const ackDeliveries = operation({
  action: "deliveries.ack",
  route: "POST /delivery/ack",
  summary: "Acknowledge deliveries",
  description:
    "Call this after processing deliveries, so that they are not redelivered. Returns how many were " +
    "acknowledged; unknown, already acknowledged and other agents' ids are not counted.",
  access: receiver,
  overQuota: true,
  reserved: true,
  body: { ...settled, log },
  answer: Type.Object({
    ...acknowledgedCount,
    unknown_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: "Those that name no delivery of the agent. Absent if there are none.",
      }),
    ),
  }),
  mcp: {
    idempotent: true,
    core: ["delivery_ids"],
    aliases: { delivery_ids: ["ids", "id"] },
  },
});

export const nackDeliveries = operation({
  action: "deliveries.nack",
  route: "POST /delivery/nack",
  summary: "Reject deliveries, to be retried later",
  description:
    "Use this if processing failed and may succeed later. The attempt counts: when the retry budget is spent, the delivery is dead-lettered with the reason, and with `dead_letter` at once. Returns how many were rejected and dead-lettered.",
  access: receiver,
  overQuota: true,
  reserved: true,
  body: { ...rejected, log },
  answer: Type.Object(nackedCounts),
  mcp: {
    core: ["delivery_ids", "lease", "reason", "delay_seconds", "dead_letter"],
    aliases: {
      delivery_ids: ["ids", "id"],
      reason: ["error", "message"],
      delay_seconds: ["delay", "retry_after", "retry_after_seconds"],
    },
  },
});

export const receiveNextDeliveries = operation({
  action: "deliveries.next",
  route: "POST /delivery/next",
  summary: "Settle deliveries and receive the next",
  description:
    "Acknowledges and rejects deliveries, and returns the next as a poll does: one request and one commit for what " +
    "otherwise takes three. Settling does not wait, and stands if the caller disconnects. If the next cannot be " +
    "claimed, the answer has none, and says what was settled. Repeat it without an `Idempotency-Key`: settling twice " +
    "changes nothing, if rejections name their `lease`, and answers of more than 1 kB are not stored for a key.",
  access: receiver,
  overQuota: true,
  body: {
    ...optional({
      ack: Type.Object(settled, { description: "Deliveries to acknowledge, as in `POST /delivery/ack`." }),
      nack: Type.Object(rejected, { description: "Deliveries to reject, as in `POST /delivery/nack`." }),
    }),
    ...wanted,
  },
  // Twice as much as a hundred ids with leases need for each of both: it may be in memory as long as the request waits.
  maxBody: 65_536,
  answer: Type.Object({ ...received, ...acknowledgedCount, ...nackedCounts }),
  waits: true,
  takes: true,
});

export const extendDeliveries = operation({
  action: "deliveries.extend",
  route: "POST /delivery/extend",
  summary: "Extend the lease of deliveries",
  description:
    "Use this if processing takes longer than the lease. The lease then ends `seconds` from now. Returns how many were extended: those that are not in flight are not counted.",
  access: receiver,
  overQuota: true,
  reserved: true,
  body: {
    ...settled,
    seconds: Type.Integer({ minimum: 1, maximum: 43_200, description: "Length of the lease from now." }),
  },
  answer: Type.Object({ extended: Type.Integer() }),
  mcp: {
    idempotent: true,
    core: ["delivery_ids", "lease", "seconds"],
    aliases: {
      delivery_ids: ["ids", "id"],
      seconds: ["duration", "lease_seconds", "extend_by", "extend_seconds", "timeout"],
    },
  },
});

export const streamDeliveries = operation({
  action: "deliveries.stream",
  route: "GET /delivery/stream",
  summary: "Receive deliveries as server-sent events",
  description:
    "Sends `event: delivery` with the delivery's id as `id:` and the delivery, as in a poll, as `data:`; a " +
    "comment every 15 s keeps the connection open. Acknowledge with `POST /delivery/ack`. Closing the stream " +
    "returns unacknowledged deliveries at once, without counting the attempt.",
  access: receiver,
  query: optional({
    max_in_flight: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: "Maximum unacknowledged deliveries over all of the agent's streams.",
    }),
  }),
  answer: Type.String(),
  produces: ["text/event-stream"],
  stream: true,
});

const counts = { ...DELIVERY_COUNTS, limited_by: Type.Optional(LimitedBy) };

export const getDeliveryStats = operation({
  action: "deliveries.stats",
  route: "GET /delivery/stats",
  summary: "Count deliveries by state",
  description:
    "Counts the caller's deliveries. For admins, counts the tenant's, with one row per agent on the page; " +
    "`oldest_age_seconds` then covers these agents only.",
  access: reader,
  query: {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, default: 50, description: "Agents per page." }),
    ),
    offset: Offset,
  },
  answer: Type.Object({
    ...counts,
    agents: Type.Optional(Type.Array(Type.Object({ agent_id: AgentId, ...counts }))),
    total: Type.Optional(Type.Integer({ description: "Agents of the tenant." })),
  }),
  errors: ["forbidden"],
});
