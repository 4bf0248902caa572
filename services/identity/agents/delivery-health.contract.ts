import { type Static, Type } from "typebox";
import { nullable, oneOf } from "../../../lib/contract/contract.ts";
import { Timestamp } from "../../../lib/contract/schema.ts";

/** From the best to the worst. Those from `unmatched` on need attention. */
export const HEALTH_STATES = [
  "ok",
  "quiet",
  "unmatched",
  "unsubscribed",
  "behind",
  "failing",
  "stuck",
  "unreachable",
] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** Part of the counts of an agent's deliveries. */
export const LimitedBy = nullable(
  oneOf(["max_in_flight", "max_per_minute"], {
    description: "The limit of the agent for which ready deliveries wait; null if none do.",
  }),
);

export const DeliveryHealth = Type.Object(
  {
    state: oneOf(HEALTH_STATES, {
      description:
        "`unreachable`: its endpoint cannot be reached, or answered 410 Gone. `stuck`: a delivery has been pending for " +
        "`late_after_seconds`, and none was acknowledged in that time. `failing`: it has dead letters of " +
        "the last 24 hours. `behind`: it acknowledges, but a delivery has been pending for that long. `unsubscribed`: it has a key " +
        "with the scope `receive`, but no interests and is in no channel with feeds. `unmatched`: one of its interests has matched no " +
        "event. Both after `STUCK_AFTER_SECONDS`. `quiet`: not seen for 24 hours, and nothing is pending. `ok`: none of " +
        "these. The first of this list that applies is shown. All but the last two need attention.",
    }),
    late_after_seconds: Type.Number({
      description:
        "Age from which a pending delivery is late: `STUCK_AFTER_SECONDS` (5 minutes) or its lease. For an agent that polls or " +
        "streams also twice its usual absence: it did not ask for deliveries for as long on two of the last 14 days.",
      examples: [300],
    }),
    reason: nullable(Type.String({ description: "Why, in a sentence; null if `ok`." })),
    pending: Type.Integer({ description: "Neither acknowledged nor dead-lettered." }),
    in_flight: Type.Integer({ description: "Pending deliveries that are leased." }),
    waiting: Type.Integer({
      description: "Pending deliveries that wait for a retry, or for an earlier one of their ordering key.",
    }),
    dead: Type.Integer({ description: "Dead letters." }),
    oldest_age_seconds: nullable(Type.Number({ description: "Age of the oldest pending delivery." })),
    limited_by: LimitedBy,
    success_rate: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          "Share of the attempts of the last 24 hours that were acknowledged, of those that ended. Null if none did.",
      }),
    ),
    last_acknowledged_at: nullable(Timestamp),
    last_seen_at: nullable({
      ...Timestamp,
      description: "When it last used one of its API keys, or its endpoint last accepted a push.",
    }),
    last_error: nullable(
      Type.Object(
        { at: Timestamp, reason: Type.String() },
        { description: "The last attempt that failed, or the last failure to reach its endpoint." },
      ),
    ),
  },
  { title: "DeliveryHealth" },
);
export type DeliveryHealth = Static<typeof DeliveryHealth>;
