import { Type } from "typebox";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Cursor } from "../../../lib/contract/cursor.ts";
import { Id, page, Timestamp } from "../../../lib/contract/schema.ts";

/** An agent's deliveries, for those who look after it. */

const path = { agent_id: Id("ag") };

const STATUSES = ["ready", "in_flight", "waiting", "acknowledged", "dead", "discarded"] as const;
export type DeliveryStatus = (typeof STATUSES)[number];

const Attempt = Type.Object({
  at: Timestamp,
  what: Type.String({ examples: ["handed_out", "nacked", "lease_expired", "acknowledged"] }),
  reason: Type.Optional(Type.String()),
});

export const AgentDelivery = Type.Object(
  {
    id: Id("dlv", "Id of the delivery, not of its event."),
    status: oneOf(STATUSES, {
      description:
        "`ready`: not leased yet. `in_flight`: leased. `waiting`: will be retried. `dead`: a dead letter. " +
        "`discarded`: removed by a person, or as a dead letter.",
    }),
    event: nullable(
      Type.Object(
        {
          event_id: Id("evt"),
          type: Type.String(),
          source: Type.String(),
          subject: nullable(Type.String()),
        },
        { description: "Null if the event is no longer kept." },
      ),
    ),
    attempt_count: Type.Integer(),
    next_attempt_at: nullable({
      ...Timestamp,
      description: "When it is retried: the end of the wait or, in flight, of the lease. Null otherwise.",
    }),
    last_error: nullable(Type.Object({ at: Timestamp, reason: Type.String() })),
    created_at: Timestamp,
    timeline: Type.Array(Attempt, { description: "Oldest first; the latest 20." }),
  },
  { title: "AgentDelivery" },
);

export const listDeliveries = operation({
  action: "deliveries.list",
  route: "GET /agents/{agent_id}/deliveries",
  summary: "List an agent's deliveries, newest first",
  description: "For the agent itself, the person who owns it, and admins. Leases nothing.",
  access: { by: "any" },
  path,
  query: {
    status: Type.Optional(
      oneOf(["pending", ...STATUSES], {
        description: "Only these. `pending`: `ready`, `in_flight` and `waiting`.",
      }),
    ),
    limit: page.limit,
    cursor: Cursor,
  },
  results: {
    200: Type.Object({ deliveries: Type.Array(AgentDelivery), next_cursor: nullable(Type.String()) }),
  },
  errors: ["forbidden", "not_found"],
});

/** Limit of deliveries that one request discards. */
export const MOST_DRAINED = 10_000;

export const drain = operation({
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
  path,
  body: {
    before: Type.Optional(
      Type.String({
        format: "date-time",
        description: "Only deliveries created before this time. Default: now.",
      }),
    ),
  },
  results: {
    200: Type.Object({
      discarded: Type.Integer(),
      in_flight: Type.Integer({ description: "Deliveries in flight, which were kept." }),
      before: { ...Timestamp, description: "Pass this to discard those left, and no later ones." },
      more: Type.Boolean(),
    }),
  },
  errors: ["forbidden", "not_found"],
});

export const agentDeliveriesOperations = [listDeliveries, drain] as const;
