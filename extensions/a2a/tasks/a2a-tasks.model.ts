import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { TASK_STATES } from "./a2a-tasks.contract.ts";

/** A task that another program gave to an agent over A2A. */
export interface A2aTaskDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** The agent that works on it. */
  agent_id: t.string(),
  /** The agent or person who sent it, and alone may read it besides the agent. */
  caller_id: t.string(),
  context_id: t.string(),
  state: t.oneOf(TASK_STATES),
  /** The task as JSON of the protocol: its keys could have a meaning to the store. */
  task_json: t.large(t.texts(t.json())),
  /** Ids of the caller's messages, so that a repeated one is not added again. */
  message_ids: t.large(t.array(t.string())),
  /** Counts the changes, and guards them. */
  version: t.number(),
  /** Whether it may have webhooks (push-configs.ts). */
  has_push: t.optional(t.boolean()),
  /** Set with each change of a task that has: its webhooks are not queued yet (mixins/queue.ts). */
  queue: t.optional(t.string()),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ tenant_id: 1, agent_id: 1, caller_id: 1, updated_at: -1, _id: -1 });
schema.index({ queue: 1 }, { sparse: true });
// For the retention of final tasks, which do not change any more.
schema.index({ state: 1, updated_at: 1 });

export const A2aTaskModel: Model<A2aTaskDoc> = {
  erasure: { agent: "a2a_tasks.erase", subject: "a2a_tasks.erase", mentions: "a2a_tasks.erase" },
  move: { stage: 1 },
  name: "a2a_tasks",
  ids: "uuid",
  schema,
};
