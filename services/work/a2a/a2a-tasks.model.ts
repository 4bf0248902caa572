import type { InferSchemaType } from "mongoose";
import {
  array,
  boolean,
  date,
  large,
  type Model,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { TaskState } from "./a2a-tasks.contract.ts";

/** A task that another program gave to an agent over A2A. */
export interface A2aTaskDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** The agent that works on it. */
  agent_id: string(),
  /** The agent or person who sent it, and alone may read it besides the agent. */
  caller_id: string(),
  context_id: string(),
  state: string<TaskState>(),
  /** The task as JSON of the protocol: its keys could have a meaning to the store. */
  task_json: large(string()),
  /** Ids of the caller's messages, so that a repeated one is not added again. */
  message_ids: large(array(string())),
  /** Counts the changes, and guards them. */
  version: number(),
  /** Whether it may have webhooks (push-configs.ts). */
  has_push: optional(boolean()),
  /** Set with each change of a task that has: its webhooks are not queued yet (mixins/queue.ts). */
  queue: optional(string()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, agent_id: 1, caller_id: 1, updated_at: -1, _id: -1 });
schema.index({ queue: 1 }, { sparse: true });
// For the retention of final tasks, which do not change any more.
schema.index({ state: 1, updated_at: 1 });

export const A2aTaskModel: Model<A2aTaskDoc> = {
  erasure: { agent: "a2a_tasks.erase", subject: "a2a_tasks.erase", mentions: "a2a_tasks.erase" },
  move: { stage: 1 },
  name: "a2a_tasks",
  schema,
};
