import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Offset, Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

/** Limit of deliveries that one request receives or settles (spec: Limits). */
export const BATCH = 100;

export const MAX_WAIT_SECONDS = 30;

const receiver = { by: "agent", scope: "receive" } as const;
const reader = { by: "any", scope: "receive", people: "org_admin" } as const;

const DeliveryId = Id("dlv", "Id of a delivery, not of its event.");
const AgentId = Id("ag");
const Event = Type.Record(Type.String(), Type.Unknown(), { description: "The whole CloudEvent." });
const Matched = Type.Object(
  { interest_ids: Type.Array(Type.String()), feed_ids: Type.Array(Type.String()) },
  {
    title: "Matched",
    description: "Why this agent got it: its interests and the channel feeds that matched.",
  },
);

/** spec: DeliveryEvent, plus `lease_expires_at` and `matched` (api.md Delivery). */
export const DeliveryEvent = Type.Object(
  {
    id: DeliveryId,
    event_id: Type.String(),
    payload: Event,
    attempt_count: Type.Integer({ description: "Hand-outs so far: 1 on the first." }),
    created_at: Timestamp,
    lease_expires_at: Timestamp,
    matched: Matched,
  },
  { title: "DeliveryEvent" },
);

const deliveryIds = {
  delivery_ids: Type.Array(DeliveryId, { maxItems: BATCH, description: `At most ${BATCH}.` }),
};

export const poll = operation({
  action: "deliveries.poll",
  route: "GET /delivery/poll",
  summary: "Take the caller's next deliveries",
  description:
    "Highest priority first, then oldest; best effort. What is not acknowledged before `lease_expires_at` is given " +
    "out again. An answer stops at 4 MB of events. `limit` and `wait` outside their range are clamped.",
  access: receiver,
  query: {
    limit: Type.Optional(Type.Integer({ default: BATCH, description: "1..100" })),
    wait: Type.Optional(
      Type.Number({
        default: 0,
        description: "Seconds to wait for a first delivery when there is none: 0..30",
      }),
    ),
  },
  results: { 200: Type.Object({ deliveries: Type.Array(DeliveryEvent), count: Type.Integer() }) },
  waits: true,
  takes: true,
  mcp: { destructive: false, idempotent: false },
});

export const ack = operation({
  action: "deliveries.ack",
  route: "POST /delivery/ack",
  summary: "Acknowledge deliveries",
  description: "Ids that are acknowledged already, of another agent or unknown are not counted.",
  access: receiver,
  overQuota: true,
  body: deliveryIds,
  results: { 200: Type.Object({ acknowledged: Type.Integer() }) },
  mcp: { idempotent: true },
});

export const nack = operation({
  action: "deliveries.nack",
  route: "POST /delivery/nack",
  summary: "Hand deliveries back, to be given out again later",
  description:
    "Without `delay_seconds` after 1 s, 2 s, 4 s … (±20 %, at most 1 h); 0 is at once. The hand-out stays counted: " +
    "with the budget spent, the delivery is dead-lettered with the reason.",
  access: receiver,
  overQuota: true,
  body: {
    ...deliveryIds,
    delay_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
    reason: Type.Optional(Type.String({ maxLength: 500, examples: ["billing is closed"] })),
  },
  results: {
    200: Type.Object({
      nacked: Type.Integer({ description: "How many were taken back." }),
      dead_lettered: Type.Integer({ description: "How many of them had spent their budget." }),
    }),
  },
  mcp: true,
});

export const extend = operation({
  action: "deliveries.extend",
  route: "POST /delivery/extend",
  summary: "Keep deliveries that are in flight for longer",
  description: "The lease ends `seconds` from now. Deliveries that are not in flight are not counted.",
  access: receiver,
  overQuota: true,
  body: { ...deliveryIds, seconds: Type.Integer({ minimum: 1, maximum: 43_200 }) },
  results: { 200: Type.Object({ extended: Type.Integer() }) },
  mcp: { idempotent: true },
});

export const stream = operation({
  action: "deliveries.stream",
  route: "GET /delivery/stream",
  summary: "Receive deliveries as server-sent events",
  description:
    "`event: delivery`, `id:` the delivery's id, `data:` the delivery as in a poll; a comment every 15 s. Acknowledge " +
    "by `POST /delivery/ack`. Closing the stream returns what it held at once, without counting a hand-out.",
  access: receiver,
  query: {
    max_in_flight: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: "Unacknowledged deliveries at most, over all of the agent's streams.",
      }),
    ),
  },
  results: { 200: Type.String() },
  produces: ["text/event-stream"],
  stream: true,
});

export const DeadLetter = Type.Object(
  {
    id: DeliveryId,
    event_id: nullable(Type.String()),
    agent_id: nullable(Type.String({ description: "Null where the input could not be mapped to an event." })),
    payload: Type.Unknown({
      description: "The whole CloudEvent, or what came where it could not be mapped.",
    }),
    attempt_count: Type.Integer(),
    dlq_reason: Type.String({ examples: ["max attempts exceeded (5): lease expired"] }),
    created_at: Timestamp,
    dead_lettered_at: Timestamp,
    source: nullable(Type.String({ description: "Where the event came from." })),
  },
  { title: "DeadLetter" },
);

export const listDeadLetters = operation({
  action: "deliveries.dead_letters",
  route: "GET /delivery/dlq",
  summary: "List dead letters, latest first",
  description: "The caller's own; an admin sees the whole tenant's.",
  access: reader,
  query: {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ description: "`next_cursor` of the page before." })),
  },
  results: {
    200: Type.Object({
      items: Type.Array(DeadLetter),
      count: Type.Integer({ description: "How many this page has." }),
      next_cursor: nullable(Type.String()),
    }),
  },
  errors: ["forbidden"],
  mcp: true,
});

const dryRun = { dry_run: Type.Optional(Type.Boolean({ description: "Only tell what would happen." })) };

export const replayOne = operation({
  action: "deliveries.replay",
  route: "POST /delivery/dlq/{id}/replay",
  summary: "Replay a dead letter",
  description:
    "The event flows through interests and feeds again: its dead recipient, if it still matches, gets a fresh " +
    "budget; agents that match now and never had it get it; others are not given it again. What could not be " +
    "mapped is mapped by the mapping as it is now.",
  access: reader,
  path: { id: DeliveryId },
  body: dryRun,
  results: {
    200: Type.Object({
      id: DeliveryId,
      status: oneOf(["accepted", "dry_run"]),
      receivers: Type.Optional(
        Type.Array(AgentId, { description: "On a dry run: the agents that would be given the event." }),
      ),
    }),
  },
  errors: ["not_found", "forbidden", "business_rule_violation"],
  mcp: true,
});

export const replayMany = operation({
  action: "deliveries.replay_many",
  route: "POST /delivery/dlq/replay",
  summary: "Replay many dead letters",
  description:
    "Exactly one of `ids` and `reason` (the exact `dlq_reason`). At most 10,000 a call: `more` tells if others are left.",
  access: reader,
  body: {
    ids: Type.Optional(Type.Array(DeliveryId, { minItems: 1, maxItems: 1000 })),
    reason: Type.Optional(Type.String({ minLength: 1 })),
    ...dryRun,
  },
  results: {
    200: Type.Object({
      status: oneOf(["accepted", "dry_run"]),
      count: Type.Integer({ description: "Dead letters chosen." }),
      groups: Type.Array(Type.Object({ dlq_reason: Type.String(), count: Type.Integer() })),
      more: Type.Boolean(),
    }),
  },
  errors: ["validation_error", "forbidden"],
});

export const discard = operation({
  action: "deliveries.discard",
  route: "DELETE /delivery/dlq/{id}",
  summary: "Delete a dead letter",
  access: reader,
  path: { id: DeliveryId },
  results: { 204: null },
  errors: ["not_found", "forbidden"],
});

const counts = {
  pending: Type.Integer({ description: "All that is neither acknowledged nor dead." }),
  in_flight: Type.Integer({ description: "Of these: handed out, not yet settled." }),
  waiting: Type.Integer({ description: "Of these: handed back, to be given out later." }),
  dead: Type.Integer(),
  oldest_age_seconds: nullable(Type.Number({ description: "Age of the oldest pending delivery." })),
};

export const stats = operation({
  action: "deliveries.stats",
  route: "GET /delivery/stats",
  heavy: true,
  summary: "Counts of deliveries by state",
  description:
    "The caller's own. For an admin the tenant's, with one row per agent of the page asked for; " +
    "`oldest_age_seconds` is then the oldest of these agents.",
  access: reader,
  query: {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, default: 50, description: "Agents a page." }),
    ),
    offset: Offset,
  },
  results: {
    200: Type.Object({
      ...counts,
      agents: Type.Optional(Type.Array(Type.Object({ agent_id: AgentId, ...counts }))),
      total: Type.Optional(Type.Integer({ description: "Agents of the tenant." })),
    }),
  },
  errors: ["forbidden"],
});

export const deliveriesOperations = [
  poll,
  ack,
  nack,
  extend,
  stream,
  listDeadLetters,
  replayOne,
  replayMany,
  discard,
  stats,
] as const;
