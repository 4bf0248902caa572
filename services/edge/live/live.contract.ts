import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Storage, Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

const Series = Type.Array(Type.Integer(), { description: "Oldest first; the last one still runs." });

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
      delivered: Type.Array(Type.Integer(), { description: "Handed out, again and again too." }),
      acknowledged: Series,
    }),
    deliveries: nullable(
      Type.Object({
        pending: Type.Integer(),
        in_flight: Type.Integer(),
        waiting: Type.Integer(),
        dead: Type.Integer(),
        oldest_age_seconds: nullable(Type.Number({ description: "How far the slowest agent is behind." })),
      }),
    ),
    storage: nullable(Storage),
    recent: Type.Array(RecentEvent, { description: "The last events, latest first." }),
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
  summary: "How the organisation's events flow now",
  description:
    "Counts of the last 15 minutes, of the nodes that run. `deliveries`, `storage` and `recent` are for " +
    "admins; others get null and nothing.",
  access: { by: "user" },
  results: { 200: Stats },
});

export const watch = operation({
  action: "live.watch",
  route: "GET /live",
  summary: "The same as it changes, as server-sent events",
  description:
    "`event: stats` with the data of `GET /stats`, at once and every 2 seconds. `event: changed` with " +
    "`{resource, ids}` soon after runs, documents, devices or connectors changed; `ids` are of runs only, and " +
    "none where there are many. Some change may go untold when a node dies.",
  access: { by: "user" },
  results: { 200: Type.String() },
  produces: ["text/event-stream"],
  stream: true,
});

export const liveOperations = [readStats, watch] as const;
