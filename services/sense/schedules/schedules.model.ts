import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { ON_MISSED } from "./schedules.contract.ts";

/** An event that is published at the ticks of a cron expression, or once. */
export interface ScheduleDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** The agent or person that created it: the publisher of its events. */
  owner_id: t.string(),
  name: t.text(),
  /** The attributes of its events as JSON text. */
  event: t.large(t.texts(t.json())),
  /** `data` and `data_base64` of its events as JSON text; lists do not read it. */
  content: t.optional(t.large(t.texts(t.json()))),
  cron: t.nullable(t.string()),
  time_zone: t.string(),
  at: t.nullable(t.date()),
  on_missed: t.oneOf(ON_MISSED),
  paused: t.boolean(),
  /** Increases with every change by callers. */
  revision: t.number(),
  /** Part of its events' ids, which nobody knows: otherwise an event with the id of a tick to come would prevent it. */
  secret: t.string(),

  /** The first tick that is not settled; null while it is paused and after the last one. */
  next_at: t.nullable(t.date()),
  /** When to look at it: at `next_at`, or later after a failure. Absent without a next tick. */
  due_at: t.optional(t.date()),
  /** Failures since the last success. */
  failures: t.number(),
  last_run_at: t.nullable(t.date()),
  last_event_id: t.nullable(t.string()),
  /** The latest tick for which nothing was published. */
  last_missed_at: t.nullable(t.date()),
  last_error: t.nullable(t.text()),
  last_error_at: t.nullable(t.date()),
  run_count: t.number(),
  /** When the last tick of all was settled. */
  ended_at: t.optional(t.date()),
  created_at: t.date(),
  updated_at: t.date(),
});
schema.index({ tenant_id: 1, created_at: 1 });
schema.index({ due_at: 1 }, { sparse: true });
schema.index({ ended_at: 1 }, { sparse: true });

export const ScheduleModel: Model<ScheduleDoc> = {
  erasure: {
    ...{ agent: "schedules.erase", subject: "schedules.erase", mentions: "schedules.erase" },
    replaced: { of: [], version: "revision" },
  },
  move: { stage: 4 },
  anew: ({ next_at }) => ({ due_at: next_at ?? undefined }),
  name: "schedules",
  ids: "sch",
  schema,
  outOfLine: "content",
};
