import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Storage, Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

const Series = Type.Array(Type.Integer(), {
  description: "Oldest first; the last count is still in progress.",
});

const RecentEvent = Type.Object(
  {
    event_id: Id("evt"),
    type: Type.String(),
    source: Type.String(),
    subject: nullable(Type.String()),
    state: Type.String(),
    matched_count: nullable(Type.Integer()),
    accepted_at: Timestamp,
  },
  { title: "RecentEvent" },
);

const Stats = Type.Object(
  {
    at: Timestamp,
    series: Type.Object({
      seconds: Type.Integer({ description: "Length of each count." }),
      published: Series,
      delivered: Type.Array(Type.Integer(), { description: "Delivery attempts, retries included." }),
      acknowledged: Series,
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
    recent: Type.Array(RecentEvent, { description: "The latest events, newest first." }),
    health: Type.Object({
      status: oneOf(["ready", "not_ready"]),
      checks: Type.Record(Type.String(), Type.String()),
    }),
  },
  { title: "Stats" },
);

export const readStats = operation({
  action: "live.stats",
  route: "GET /stats",
  summary: "Read the organisation's event traffic",
  description:
    "Counts of the last 15 minutes over all running nodes. `deliveries`, `storage` and `recent` are for admins; " +
    "other callers get null and an empty list.",
  access: { by: "user" },
  results: { 200: Stats },
});

export const watch = operation({
  action: "live.watch",
  route: "GET /live",
  summary: "Stream the event traffic as server-sent events",
  description:
    "Sends `event: stats` with the data of `GET /stats`, at once and then every 2 seconds, and `event: changed` " +
    "with `{resource, ids}` after runs, documents, devices or connectors changed. `ids` lists runs only and is " +
    "empty if many changed. If a node crashes, some changes may not be reported.",
  access: { by: "user" },
  results: { 200: Type.String() },
  produces: ["text/event-stream"],
  stream: true,
});

export const liveOperations = [readStats, watch] as const;
