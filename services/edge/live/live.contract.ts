import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, SomeText, Storage, Timestamp } from "../../../lib/contract/schema.ts";
import { eventOutcome } from "../../sense/events/events.contract.ts";

const Series = Type.Array(Type.Integer(), {
  description: "Oldest first; the last count is still in progress.",
});

const RecentEvent = component("RecentEvent", {
  event_id: Id("evt"),
  type: Type.String(),
  source: Type.String(),
  subject: nullable(Type.String()),
  ...eventOutcome,
  accepted_at: Timestamp,
});

const Stats = component("Stats", {
  at: Timestamp,
  series: Type.Object({
    seconds: Type.Integer({ description: "Length of each count." }),
    published: Series,
    delivered: Type.Array(Type.Integer(), { description: "Delivery attempts, retries included." }),
    acknowledged: Series,
  }),
  changes: Type.Integer({
    description: "Differs after any change of events or deliveries; its value has no other meaning.",
  }),
  deliveries: nullable(
    Type.Object({
      pending: Type.Integer(),
      in_flight: Type.Integer(),
      waiting: Type.Integer(),
      dead: Type.Integer(),
      oldest_age_seconds: nullable(
        Type.Number({ description: "Age of the oldest pending delivery of the slowest agent." }),
      ),
    }),
  ),
  storage: nullable(Storage),
  recent: Type.Array(RecentEvent, {
    description: "The latest events, newest first, without the service's own.",
  }),
  health: Type.Object({
    status: oneOf(["ready", "not_ready"]),
    checks: Type.Record(Type.String(), Type.String()),
  }),
});

export const getTraffic = operation({
  action: "live.stats",
  route: "GET /stats",
  summary: "Read the organisation's event traffic",
  description:
    "Counts of the last 15 minutes over all running nodes. `deliveries`, `storage` and `recent` are for admins; " +
    "other callers get null and an empty list.",
  access: { by: "user" },
  answer: Stats,
});

/** Time ranges of a history. */
const RANGES = ["15m", "1h", "24h", "7d"] as const;

/** A value for each step. */
const Values = (description: string) =>
  Type.Array(nullable(Type.Integer()), { description: `${description} Null where nothing was recorded.` });
const Total = (description: string) => Type.Integer({ description });

/** Builds the properties of all counts. */
const counts = <T>(toSchema: (description: string) => T) => ({
  published: toSchema(
    "Events accepted, without the service's own; with `agent_id`, those that the agent published.",
  ),
  created: toSchema("Deliveries created: an event has one for each receiver."),
  delivered: toSchema("Delivery attempts, retries included."),
  acknowledged: toSchema("Deliveries acknowledged."),
  failed: toSchema("Attempts that were rejected, answered with an error, or not acknowledged in time."),
  dead_lettered: toSchema("Deliveries dead-lettered."),
});

const History = component("TrafficHistory", {
  range: oneOf(RANGES),
  from: Timestamp,
  to: Timestamp,
  step_seconds: Type.Integer({
    description:
      "Time of one value: 60, 300 with `24h`, 3600 with `7d`. The first begins at `from`, the last is in progress.",
  }),
  series: Type.Object({
    ...counts(Values),
    latency_seconds: Type.Array(nullable(Type.Number()), {
      description: "Mean time from a delivery's creation to its acknowledgement. Null without any.",
    }),
  }),
  totals: Type.Object(
    { ...counts(Total), latency_seconds: nullable(Type.Number({ description: "The mean of all." })) },
    { description: "The sums of the series." },
  ),
  types: Type.Array(Type.String(), {
    description: "Types of events in this time, most frequent ones first; at most 100.",
  }),
});

export const getTrafficHistory = operation({
  action: "live.history",
  route: "GET /stats/history",
  summary: "Read the organisation's traffic over time",
  description:
    "Counts of up to seven days, for all agents or one and all types or one. They survive restarts and are a few " +
    "seconds old; a node that is killed loses those of its last 5 seconds. Each hour the first 500 agents and 100 " +
    "types are counted separately and all others together as `other`. Members read the sums, and their own agents " +
    "by type.",
  access: { by: "user" },
  query: optional({
    range: oneOf(RANGES, { default: "1h", description: "The time up to now." }),
    agent_id: Id("ag", "Counts only deliveries to this agent and events that it published."),
    type: SomeText(255, "Counts only events of exactly this type."),
  }),
  answer: History,
  errors: ["insufficient_scope", "not_found"],
});

export const streamTraffic = operation({
  action: "live.watch",
  route: "GET /live",
  summary: "Stream the event traffic as server-sent events",
  description:
    "Sends `event: stats` with the data of `GET /stats`, at once and then every 2 seconds, and `event: changed` " +
    "with `{resource, ids}` after a change of anything but events and deliveries, whose `changes` is in the " +
    "statistics. `ids` lists runs only and is empty if many changed. If a node crashes, some changes may not be " +
    "reported.",
  access: { by: "user" },
  answer: Type.String(),
  produces: ["text/event-stream"],
  stream: true,
});
