import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Subscription } from "./subscription.ts";

/** An event as its waiter sees it. */
export interface AwaitedEvent {
  /** Its id here, `evt_…`. */
  id: string;
  type: string;
  source: string;
  subject: string | null;
}

/** A wait of another domain for one event: the first that matches is recorded in the row, until the owner has it. */
export interface WaitDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** What waits, such as a run; and the version of it that began to wait. */
  owner_id: t.string(),
  version: t.number(),
  /** The action that takes the event, with the row's `owner_id`, `key` and id. */
  action: t.oneOf(["runs.receive"]),
  /** Names the part of the owner that waits. */
  key: t.string(),
  /** A glob over event types. */
  event_type: t.string(),
  filter_expression: t.nullable(t.string()),
  /** Events that were accepted earlier do not count. */
  since: t.date(),
  /** The agent or person for whom it waits: decides about events with an audience. */
  reader_id: t.string(),
  event: t.optional(t.mixed<AwaitedEvent>()),
  /** When to pass the event on; set with it. */
  notify_at: t.optional(t.date()),
});
schema.index({ tenant_id: 1, _id: 1 });
schema.index({ tenant_id: 1, owner_id: 1, version: 1 });
schema.index({ notify_at: 1 }, { sparse: true });

export const WaitModel: Model<WaitDoc> = {
  erasure: { none: "event types and filters; ends with the step that waits" },
  // After the runs that take the events.
  move: { stage: 2 },
  name: "event_waits",
  schema,
};

/** Converts a wait to a subscription. */
export function waitSubscription(row: WaitDoc): Subscription {
  const { _id: id, event_type: glob, filter_expression, since, reader_id } = row;
  const filter = filter_expression === null ? {} : { filter: filter_expression };
  return { id, kind: "wait", glob, priority: 0, begun_at: since.getTime(), reader_id, ...filter };
}
