import type { InferSchemaType } from "mongoose";
import { date, type Model, number, optional, sealed, string, tenantSchema } from "../../../storage/model.ts";

/** A webhook that is notified of the changes of an A2A task. Its `_id` derives from the task's and the `config_id`. */
export interface PushConfigDoc extends InferSchemaType<typeof schema> {}

/** Returns where the secrets of a configuration are sealed. */
export function pushConfigPlace(_id: string): string {
  return `a2a_push_configs/${_id}`;
}

const schema = tenantSchema({
  task_id: string(),
  /** The caller's id for it, unique in the task. */
  config_id: string(),
  url: string(),
  /** A `PushSecrets` as JSON. */
  sealed: sealed(pushConfigPlace),
  /** The version of the task that the webhook has received, and the one that it should. */
  sent_version: number(),
  wanted_version: number(),
  /** Failed attempts since the last success. */
  attempts: number(),
  /** Position in the queue (mixins/queue.ts); absent while the webhook has what it should. */
  queue: optional(string()),
  created_at: date(),
});
schema.index({ tenant_id: 1, task_id: 1 });
schema.index({ queue: 1 }, { sparse: true });

export const PushConfigModel: Model<PushConfigDoc> = {
  erasure: { with: "a2a_tasks" },
  move: { stage: 2, withoutSecrets: "left out" },
  name: "a2a_push_configs",
  schema,
};
