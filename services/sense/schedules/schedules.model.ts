import type { InferSchemaType } from "mongoose";
import {
  boolean,
  date,
  large,
  type Model,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { OnMissed } from "./schedules.contract.ts";

/** An event that is published at the ticks of a cron expression, or once. */
export interface ScheduleDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** The agent or person that created it: the publisher of its events. */
  owner_id: string(),
  name: string(),
  /** The attributes of its events as JSON text; with the data in rows from before `content`. */
  event: large(string()),
  /** `data` and `data_base64` of its events as JSON text. */
  content: optional(large(string())),
  /** Either `cron` or `at`. */
  cron: nullable(string()),
  time_zone: string(),
  at: nullable(date()),
  on_missed: string<OnMissed>(),
  paused: boolean(),
  /** Increases with every change by callers. */
  revision: number(),
  /** Part of its events' ids, which nobody knows: otherwise an event with the id of a tick to come would prevent it. */
  secret: string(),

  /** The first tick that is not settled; null while it is paused and after the last one. */
  next_at: nullable(date()),
  /** When to look at it: at `next_at`, or later after a failure. Absent without a next tick. */
  due_at: optional(date()),
  /** Failures since the last success. */
  failures: number(),
  last_run_at: nullable(date()),
  last_event_id: nullable(string()),
  /** The latest tick for which nothing was published. */
  last_missed_at: nullable(date()),
  last_error: nullable(string()),
  last_error_at: nullable(date()),
  run_count: number(),
  /** When the last tick of all was settled. */
  ended_at: optional(date()),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, created_at: 1 });
schema.index({ due_at: 1 }, { sparse: true });
schema.index({ ended_at: 1 }, { sparse: true });

export const ScheduleModel: Model<ScheduleDoc> = {
  erasure: { agent: "schedules.erase", subject: "schedules.erase", mentions: "schedules.erase" },
  move: { stage: 4 },
  name: "schedules",
  schema,
  outOfLine: "content",
};
