import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { DateTime, Id, page, Timestamp } from "../../../lib/contract/schema.ts";
import { DeliveryHealth } from "../../identity/agents/agents.contract.ts";
import { EVENT_HEAD } from "../interests/interests.contract.ts";

const STATUSES = ["ready", "in_flight", "waiting", "acknowledged", "dead", "discarded"] as const;
export type DeliveryStatus = (typeof STATUSES)[number];

const Attempt = Type.Object({
  at: Timestamp,
  what: Type.String({ examples: ["handed_out", "nacked", "lease_expired", "acknowledged"] }),
  reason: Type.Optional(Type.String()),
});

export const AgentDelivery = component("AgentDelivery", {
  id: Id("dlv", "Id of the delivery, not of its event."),
  status: oneOf(STATUSES, {
    description:
      "`ready`: not leased yet. `in_flight`: leased. `waiting`: will be retried. `dead`: a dead letter. " +
      "`discarded`: removed by a person, or as a dead letter.",
  }),
  event: nullable(Type.Object(EVENT_HEAD, { description: "Null if the event is no longer kept." })),
  attempt_count: Type.Integer(),
  next_attempt_at: nullable({
    ...Timestamp,
    description: "When it is retried: the end of the wait or, in flight, of the lease. Null otherwise.",
  }),
  last_error: nullable(Type.Object({ at: Timestamp, reason: Type.String() })),
  created_at: Timestamp,
  timeline: Type.Array(Attempt, { description: "Oldest first; the latest 20." }),
});

export const listDeliveries = operation({
  action: "deliveries.list",
  route: "GET /agents/{agent_id}/deliveries",
  summary: "List an agent's deliveries, newest first",
  description: "For the agent itself, the person who owns it, and admins. Leases nothing.",
  access: { by: "any", scope: "receive" },
  query: {
    status: Type.Optional(
      oneOf(["pending", ...STATUSES], {
        description: "Only these. `pending`: `ready`, `in_flight` and `waiting`.",
      }),
    ),
    limit: page.limit,
    cursor: Cursor,
  },
  answer: Type.Object({ deliveries: Type.Array(AgentDelivery), next_cursor: nullable(Type.String()) }),
  errors: ["forbidden"],
});

export const getDeliveryLog = operation({
  action: "deliveries.log",
  route: "GET /agents/{agent_id}/deliveries/{delivery_id}/log",
  summary: "Read the log of a delivery",
  description:
    "Returns what the agent wrote when it acknowledged or rejected the delivery: the log of the last attempt that has " +
    "one. For the agent itself, the person who owns it, and admins.",
  access: { by: "any", scope: "receive" },
  answer: component("DeliveryLog", {
    log: nullable(Type.String({ description: "Text of the agent, with any control characters." })),
    logged_at: nullable(Timestamp),
  }),
  errors: ["forbidden"],
});

const VERDICTS = ["match", "type", "filter", "filter_error", "suspended", "later"] as const;

export const REASONS = [
  "inactive",
  "unsubscribed",
  "no_event",
  "not_matched_yet",
  "excluded",
  "no_match",
  "suspended",
  "later",
  "pending",
  "limited",
  "in_flight",
  "waiting",
  "held",
  "acknowledged",
  "dead",
  "discarded",
  "not_delivered",
  "health",
] as const;

export const explainReception = operation({
  action: "deliveries.explain",
  route: "GET /agents/{agent_id}/reception",
  summary: "Explain why an agent receives an event, or nothing",
  description:
    "Tries each interest of the agent and each feed of its channels, 200 at most of either, on one event, and shows the " +
    "event's delivery, the state of the agent's deliveries and its limits. For the agent itself, the person who owns it, " +
    "and admins. Changes nothing.",
  access: { by: "any", scope: "receive" },
  query: optional({
    event_id: Id(
      "evt",
      "Default: the event of the agent's newest dead letter, else of its newest pending delivery, else the latest " +
        "event that is not the service's own. Callers who are not admins can name one that they may " +
        "see or the agent was given, or that `POST /agents/{agent_id}/interests:test` tests.",
    ),
  }),
  answer: component("Reception", {
    reasons: Type.Array(Type.Object({ reason: oneOf(REASONS), text: Type.String() }), {
      description: "What applies, the most important first.",
    }),
    event: nullable(Type.Object({ ...EVENT_HEAD, accepted_at: Timestamp })),
    delivery: nullable(AgentDelivery),
    subscriptions: Type.Array(
      Type.Object({
        id: Type.String({ examples: ["int_", "feed_"] }),
        kind: oneOf(["interest", "feed"]),
        channel_id: nullable(Id("ch", "Of a feed.")),
        event_type: Type.String({ examples: ["com.example.*"] }),
        filter_expression: nullable(Type.String()),
        reason: nullable(
          oneOf(VERDICTS, {
            description:
              "`type`: the glob does not match. `filter`: the filter is false. `filter_error`: the filter failed. " +
              "`suspended`: the filter or glob is too slow. `later`: it matches, but was created or changed after " +
              "the event. Null without an event.",
          }),
        ),
        error: nullable(Type.String({ description: "Why the filter failed." })),
        suspended_until: nullable(Timestamp),
        unmatched_since: nullable({
          ...Timestamp,
          description: "Set for an interest that has matched no event since it was created or changed.",
        }),
      }),
    ),
    more: Type.Boolean({ description: "Whether there are more subscriptions." }),
    health: DeliveryHealth,
    limits: Type.Object({
      visibility_timeout_seconds: Type.Integer({ description: "Of each lease." }),
      retry_budget: Type.Integer({ description: "Attempts before a delivery is dead-lettered." }),
      max_in_flight: nullable(Type.Integer({ description: "Deliveries at once." })),
      max_per_minute: nullable(Type.Integer({ description: "Deliveries in a minute." })),
      requests_per_minute: nullable(
        Type.Integer({
          description: "`RATE_LIMIT_PER_MINUTE`; keys and the organisation may have their own.",
        }),
      ),
    }),
  }),
  errors: ["forbidden"],
});

/** Limit of deliveries that one request discards. */
export const MOST_DRAINED = 10_000;

export const drainDeliveries = operation({
  action: "deliveries.drain",
  route: "POST /agents/{agent_id}/deliveries:drain",
  summary: "Discard an agent's pending deliveries",
  description:
    "Discards what waits to be delivered; the agent will not receive it, also not by a replay. Deliveries in flight " +
    `and dead letters are kept. At most ${MOST_DRAINED.toLocaleString("en")} per request; \`more\` is true if others ` +
    "are left. For the person who owns the agent, and admins.",
  access: { by: "any" },
  audit: true,
  overQuota: true,
  body: optional({
    before: DateTime("Only deliveries created before this time. Default: now."),
  }),
  answer: Type.Object({
    discarded: Type.Integer(),
    in_flight: Type.Integer({ description: "Deliveries in flight, which were kept." }),
    before: { ...Timestamp, description: "Pass this to discard those left, and no later ones." },
    more: Type.Boolean(),
  }),
  errors: ["forbidden"],
});
