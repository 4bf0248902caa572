import { presentAs } from "../../../../lib/contract/present-as.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../../storage/model.ts";
import { OBSTACLES, Replay, STATES } from "./history.contract.ts";

/** A replay of history to an agent: events from `next`, or else from `from`, until `until` are still to be examined. */
export interface ReplayDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  agent_id: t.string(),
  /** Null: all interests and feeds of the agent. */
  interest_id: t.nullable(t.string()),
  /** The range as requested; `from` is null if it begins with an event. */
  from: t.nullable(t.date()),
  from_event: t.nullable(t.string()),
  until: t.date(),
  again: t.boolean(),
  per_minute: t.number(),

  state: t.oneOf(STATES),
  waiting_for: t.nullable(t.oneOf(OBSTACLES)),
  error: t.nullable(t.text()),
  /** A position of events, inclusive; null until some were examined if the range begins with a time. */
  next: t.nullable(t.string()),
  /** When the last examined event was accepted. */
  reached: t.nullable(t.date()),
  examined: t.number(),
  matched: t.number(),
  delivered: t.number(),

  created_by: t.string(),
  created_at: t.date(),
  ended_at: t.nullable(t.date()),
  /** The agent, while it runs: an agent has one running replay. */
  running_key: t.optional(t.string()),
  /** Queue position and lease of its worker (queue.ts); absent when it has ended. */
  queue: t.optional(t.string()),
});
schema.index({ tenant_id: 1, agent_id: 1, created_at: -1, _id: -1 });
schema.index({ running_key: 1 }, { unique: true, sparse: true });
schema.index({ queue: 1 }, { sparse: true });

export const ReplayModel: Model<ReplayDoc> = {
  erasure: { replaced: { of: ["agent_id"] }, owner: ["agent_id"] },
  // Its deliveries and events are there before it continues.
  move: { stage: 4 },
  anew: ({ agent_id, running_key }) => ({ ...(running_key && { running_key: agent_id }) }),
  name: "replays",
  ids: "uuid",
  schema,
};

export const present = (row: ReplayDoc) => presentAs(Replay, row);
