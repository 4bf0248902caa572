import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A webhook that is notified of the changes of an A2A task. Its `_id` derives from the task's and the `config_id`. */
export interface PushConfigDoc extends DocumentOf<typeof schema> {}

/** Returns where the secrets of a configuration are sealed. */
export function pushConfigPlace(_id: string): string {
  return `a2a_push_configs/${_id}`;
}

const schema = tenantSchema({
  task_id: t.string(),
  /** The caller's id for it, unique in the task. */
  config_id: t.string(),
  url: t.string(),
  /** A `PushSecrets` as JSON. */
  sealed: t.sealed(pushConfigPlace),
  /** The version of the task that the webhook has received, and the one that it should. */
  sent_version: t.number(),
  wanted_version: t.number(),
  /** Failed attempts since the last success. */
  attempts: t.number(),
  /** Position in the queue (mixins/queue.ts); absent while the webhook has what it should. */
  queue: t.optional(t.string()),
  created_at: t.date(),
});
schema.index({ tenant_id: 1, task_id: 1 });
schema.index({ queue: 1 }, { sparse: true });

export const PushConfigModel: Model<PushConfigDoc> = {
  erasure: { with: "a2a_tasks" },
  move: { stage: 2, withoutSecrets: "left out" },
  name: "a2a_push_configs",
  ids: "uuid",
  schema,
};
