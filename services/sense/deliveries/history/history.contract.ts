import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../../lib/contract/contract.ts";
import { Cursor } from "../../../../lib/contract/cursor.ts";
import { DateTime, Id, page, Timestamp, Uuid } from "../../../../lib/contract/schema.ts";

/** Replays of history: past events for an agent that is new, or was reset. */

export const STATES = ["running", "completed", "cancelled", "failed"] as const;

export const OBSTACLES = ["inactive", "pending", "storage_quota", "error"] as const;
export type Obstacle = (typeof OBSTACLES)[number];

/** Ended replays of an agent that are kept. */
export const MOST_KEPT = 20;
/** Pending deliveries of an agent from which a replay waits. */
export const MOST_PENDING = 1000;

/** History shows an agent events that it was never given, so that no agent may start it for itself. */
const admin = { by: "any", scope: "admin" } as const;

const InterestId = Id(
  "int",
  "Only events that match this interest of the agent; default: all interests and feeds.",
);
const again = Type.Boolean({
  description:
    "Also deliver events that the agent has acknowledged, or whose deliveries are dead letters or were discarded. " +
    "Default: false, only events that it never had.",
});
const perMinute = Type.Integer({
  minimum: 1,
  maximum: 30_000,
  default: 600,
  description: "Maximum deliveries a minute.",
});

const wanted = optional({
  from: DateTime(
    "Events accepted at this time or later. Pass either this or `from_event`.",
    "2026-01-31T09:30:00.000Z",
  ),
  from_event: Id("evt", "This event and those accepted after it."),
  until: DateTime("Events accepted at this time or before. Default: now."),
  interest_id: InterestId,
  again: again,
});

export const Replay = component("Replay", {
  id: Uuid("replay"),
  agent_id: Id("ag"),
  interest_id: nullable(InterestId),
  from: nullable(Timestamp),
  from_event: nullable(Id("evt")),
  until: Timestamp,
  again,
  per_minute: perMinute,
  state: oneOf(STATES),
  waiting_for: nullable(
    oneOf(OBSTACLES, {
      description:
        "Why a running replay makes no progress. `inactive`: the agent or the organisation is not active. " +
        `\`pending\`: the agent has ${MOST_PENDING.toLocaleString("en")} pending deliveries. ` +
        "`storage_quota`: the organisation has reached its quota. `error`: `error` is retried.",
    }),
  ),
  error: nullable(Type.String({ description: "Why it failed, or what is retried." })),
  reached: nullable({ ...Timestamp, description: "When the last examined event was accepted." }),
  examined: Type.Integer({ description: "Events of the range examined so far." }),
  matched: Type.Integer({ description: "Examined events that match." }),
  delivered: Type.Integer({
    description: "Deliveries created. The agent had the other matching events, or they are pending.",
  }),
  created_by: Type.String({ description: "Id of the user or agent." }),
  created_at: Timestamp,
  ended_at: nullable(Timestamp),
});

export const countReplay = operation({
  action: "deliveries.count_replay",
  route: "POST /agents/{agent_id}/replays:count",
  summary: "Count what a replay of history would deliver",
  description: "Changes nothing. Examines events for at most 5 seconds: `more` is true if some are left.",
  access: admin,
  body: wanted,
  answer: component("ReplayCount", {
    examined: Type.Integer(),
    matched: Type.Integer({ description: "Events that match." }),
    deliverable: Type.Integer({ description: "Deliveries that the replay would create." }),
    more: Type.Boolean({ description: "Whether the range has more events, which are not counted." }),
  }),
  reads: true,
  audit: false,
});

export const startReplay = operation({
  action: "deliveries.start_replay",
  route: "POST /agents/{agent_id}/replays",
  summary: "Replay past events to an agent",
  description:
    "Delivers the kept events of a time range that match the agent's interests and feeds as they are now, in the order " +
    "of their acceptance. It runs in the background, also over restarts; new events are delivered meanwhile. Each " +
    `event is delivered once. It waits while the agent has ${MOST_PENDING.toLocaleString("en")} pending deliveries. ` +
    "An agent has one running replay. Count first: `POST /agents/{agent_id}/replays:count`.",
  access: admin,
  body: { ...wanted, per_minute: Type.Optional(perMinute) },
  needs: { "*": 1 },
  results: { 201: Replay },
  errors: ["conflict"],
});

export const listReplays = operation({
  action: "deliveries.replays",
  route: "GET /agents/{agent_id}/replays",
  summary: "List an agent's replays of history, newest first",
  description: `The running one and the last ${MOST_KEPT} that ended. For the agent itself, the person who owns it, and admins.`,
  access: { by: "any", scope: "receive" },
  query: {
    limit: page.limit,
    cursor: Type.Optional({ ...Cursor, description: "`next` of the previous page." }),
  },
  answer: Type.Object({ replays: Type.Array(Replay), next: nullable(Type.String()) }),
  errors: ["forbidden"],
});

export const getReplay = operation({
  action: "deliveries.get_replay",
  route: "GET /agents/{agent_id}/replays/{replay_id}",
  summary: "Read the progress of a replay of history",
  description: "For the agent itself, the person who owns it, and admins.",
  access: { by: "any", scope: "receive" },
  answer: Replay,
  errors: ["forbidden"],
});

export const cancelReplay = operation({
  action: "deliveries.cancel_replay",
  route: "POST /agents/{agent_id}/replays/{replay_id}:cancel",
  summary: "Cancel a replay of history",
  description: "Deliveries that it has created stay. A replay that has ended is returned unchanged.",
  access: admin,
  overQuota: true,
  answer: Replay,
});
