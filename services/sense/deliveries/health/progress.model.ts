import { type DocumentOf, type Model, t, tenantSchema } from "../../../../storage/model.ts";

/** The longest absence of an agent that ended on a day. */
export interface Absence {
  /** In UTC, as `2026-03-01`. */
  day: string;
  ms: number;
}

/** An agent's last progress with its deliveries, by the agent's id. */
export interface ProgressDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  acknowledged_at: t.optional(t.date()),
  /** `<time> <reason>` of the last failed attempt: text, so that one `$max` keeps the latest of both. */
  failure: t.optional(t.text()),
  /** When it last asked for deliveries by a poll or on a stream, give or take `STUCK_AFTER_SECONDS`. */
  asked_at: t.optional(t.date()),
  absences: t.optional(t.mixed<Absence[]>()),
});

export const ProgressModel: Model<ProgressDoc> = {
  erasure: { replaced: { of: ["_id"], flush: "deliveries.flush" }, owner: ["_id"] },
  move: { stage: 0 },
  name: "delivery_progress",
  schema,
};
