import { type Static, Type } from "typebox";
import { MAX_ATTRIBUTE, MAX_TYPE_LENGTH } from "../../../lib/cloudevents/cloudevents.ts";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import {
  AnyText,
  DateTime,
  Id,
  Name,
  page,
  partOf,
  SomeText,
  Timestamp,
} from "../../../lib/contract/schema.ts";
import { PublishResult } from "../events/events.contract.ts";

export const ON_MISSED = ["skip", "run_once", "run_all"] as const;
export type OnMissed = (typeof ON_MISSED)[number];
const STATUSES = ["active", "paused", "ended"] as const;
export type ScheduleStatus = (typeof STATUSES)[number];

const access = { by: "any", scope: "send" } as const;

export const ScheduledEvent = component(
  "ScheduledEvent",
  {
    type: SomeText(MAX_TYPE_LENGTH, "Event type in reverse-DNS form, such as `com.example.report.due`."),
    ...optional({
      source: SomeText(
        MAX_ATTRIBUTE,
        "Producing system, a URI reference. Default: `sensorium/schedules/` and the schedule's id.",
      ),
      subject: SomeText(MAX_ATTRIBUTE, "What the event is about."),
      datacontenttype: AnyText(MAX_ATTRIBUTE, "Media type of `data`."),
      dataschema: AnyText(MAX_ATTRIBUTE, "Schema of `data`."),
      data: Type.Unknown({ description: "Any JSON." }),
      data_base64: Type.String({
        contentEncoding: "base64",
        description: "Binary data in base64, instead of `data`.",
      }),
    }),
  },
  {
    additionalProperties: true,
    description:
      "The CloudEvent to publish, without `id` and `time`: each tick gives them. Other names are extension attributes.",
    examples: [{ type: "com.example.report.due", subject: "weekly", data: { format: "pdf" } }],
  },
);

export type ScheduledEvent = Static<typeof ScheduledEvent>;

const CronExpression = SomeText(
  200,
  "Five fields: minute, hour, day of month, month, day of week. Names (`MON-FRI`), steps (`*/15`), `L` and `#` are " +
    "understood, and `@daily` and the like. If neither day of month nor day of week is `*`, a day that matches one of them " +
    "is due, as in crontab: `0 9 13 * FRI` on the 13th and on Fridays. With a plus sign both must match: `0 9 13 * +FRI`. " +
    "Ranges count up: `FRI-SUN,MON` instead of `FRI-MON`.",
  "0 9 * * MON-FRI",
);

const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  default: "UTC",
  description:
    "IANA time zone of `cron`. A local time that daylight saving skips is due when the clocks change; one that it " +
    "repeats is due once, or every time if the hour is a range.",
  examples: ["Europe/Berlin"],
});

const At = DateTime("Instead of `cron`: the only time to publish (RFC 3339).", "2026-12-31T18:00:00+01:00");

const When = Type.String({
  description:
    "`cron` with `time_zone`, or `at`, in words. An expression without words, such as one with both days, stays as it is.",
  examples: ["At 09:00, Monday through Friday, Europe/Berlin"],
});

const Missed = oneOf(ON_MISSED, {
  default: "run_once",
  description:
    "How missed ticks are handled: those that could not be published within a minute, such as when the service was down " +
    "or the owner inactive. `run_once`: the latest is published late. `run_all`: the latest 100 are. `skip`: none is.",
});

const Paused = Type.Boolean({
  default: false,
  description: "While true, nothing is published, and no tick is missed.",
});

export const Schedule = component("Schedule", {
  id: Id("sch"),
  name: Name,
  owner_id: Type.String({ description: "Agent or user that created it: the publisher of its events." }),
  status: oneOf(STATUSES, { description: "`ended`: its last tick is over. It is deleted 30 days later." }),
  event: ScheduledEvent,
  cron: nullable(CronExpression),
  time_zone: TimeZone,
  at: nullable(At),
  when: When,
  on_missed: Missed,
  paused: Paused,
  next_run_at: nullable(
    DateTime("The next tick. In the past while it is being retried, with the reason in `last_error`."),
  ),
  last_run_at: nullable(DateTime("The latest published tick, or manual run.")),
  last_event_id: nullable(Type.String({ description: "Id of its event." })),
  last_missed_at: nullable(DateTime("The latest tick for which nothing was published.")),
  last_error: nullable(Type.String({ description: "Why the latest attempt failed; null after a success." })),
  last_error_at: nullable(Timestamp),
  run_count: Type.Integer({ description: "Events published." }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const timing = optional({
  cron: nullable(CronExpression),
  time_zone: TimeZone,
  at: nullable(At),
});
const settings = { ...timing, ...optional({ on_missed: Missed, paused: Paused }) };

export const createSchedule = operation({
  action: "schedules.create",
  route: "POST /schedules",
  summary: "Create a schedule",
  description:
    "Use this to publish an event at times to come: repeatedly (`cron`), or once (`at`). The caller is the publisher. " +
    "Each tick is published exactly once, whatever fails meanwhile. To delay a single event, publish it with " +
    "`notbefore` instead. The number of schedules is limited (rule `schedule_limit`). Returns the schedule.",
  access,
  audit: true,
  body: { name: Name, event: ScheduledEvent, ...settings },
  results: { 201: Schedule },
  errors: ["validation_error", "invalid_event", "business_rule_violation"],
  mcp: true,
});

export const listSchedules = operation({
  action: "schedules.list",
  route: "GET /schedules",
  summary: "List schedules, oldest first",
  description:
    "Use this to find a schedule. Returns a page of the caller's schedules, for admins of all, with the `total`. Their " +
    "events are without `data`: read a schedule for that.",
  access,
  query: {
    ...page,
    search: partOf("the name"),
    owner_id: Type.Optional(Type.String({ description: "Only those of this agent or user." })),
    status: Type.Optional(oneOf(STATUSES, { description: "Only those with this status." })),
  },
  answer: Type.Object({ schedules: Type.Array(Schedule), total: Type.Integer() }),
  mcp: true,
});

export const getSchedule = operation({
  action: "schedules.get",
  route: "GET /schedules/{schedule_id}",
  summary: "Read a schedule",
  description: "Use this to see when a schedule is due next. Returns it, with its latest runs and errors.",
  access,
  answer: Schedule,
  mcp: true,
});

export const updateSchedule = operation({
  action: "schedules.update",
  route: "PATCH /schedules/{schedule_id}",
  summary: "Change, pause or resume a schedule",
  description:
    "Use this to change some of its fields. `cron` replaces `at`, and the reverse. A change of the timing, and " +
    "`paused: false`, apply from now on: earlier ticks are over. `event` is replaced as a whole. Returns the schedule.",
  access,
  audit: true,
  body: { ...optional({ name: Name, event: ScheduledEvent }), ...settings },
  answer: Schedule,
  errors: ["conflict", "invalid_event", "business_rule_violation"],
  mcp: true,
});

export const deleteSchedule = operation({
  action: "schedules.delete",
  route: "DELETE /schedules/{schedule_id}",
  summary: "Delete a schedule",
  description:
    "Use this to end it permanently; to stop it for a while, pause it. Events that it has published are still delivered. " +
    "Returns nothing.",
  access,
  mcp: true,
});

export const runSchedule = operation({
  action: "schedules.run",
  route: "POST /schedules/{schedule_id}:run",
  summary: "Publish a schedule's event now",
  description:
    "Use this to publish in addition to the ticks, also while the schedule is paused or has ended. Returns the event's id.",
  access,
  results: { 202: PublishResult },
  mcp: true,
});

export const testSchedule = operation({
  action: "schedules.test",
  route: "POST /schedules:test",
  summary: "Test when a schedule is due",
  description:
    "Use this before creating a schedule. Returns when it is due, in words and its next five ticks, or what is wrong with it. Saves nothing.",
  access,
  body: timing,
  answer: Type.Object({ when: When, next: Type.Array(Timestamp) }),
  errors: ["validation_error"],
  reads: true,
  mcp: true,
});
