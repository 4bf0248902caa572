import { type Static, Type } from "typebox";
import { MAX_ATTRIBUTE, MAX_TYPE_LENGTH } from "../../../lib/cloudevents/cloudevents.ts";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { DateTime, Id, page, Timestamp } from "../../../lib/contract/schema.ts";

export const BATCH_MAX_EVENTS = 100;
/** How far ahead an event may be delayed. */
export const MAX_DELAY_DAYS = 366;
export const BATCH_MAX_BYTES = 4 * 1_048_576;

const EVENT_EXAMPLE = {
  specversion: "1.0",
  id: "72d6a7f0-1",
  source: "https://github.com/acme/shop",
  type: "com.github.issues.opened",
  subject: "acme/shop#12",
  time: "2026-01-31T09:30:00Z",
  datacontenttype: "application/json",
  data: { issue: { number: 12, title: "Checkout fails" } },
};

// Control characters. Noncharacters stay allowed, because not every engine could check them.
const text = { minLength: 1, maxLength: MAX_ATTRIBUTE, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]+$" };
const URI = { minLength: 1, maxLength: MAX_ATTRIBUTE };
const TOKEN = "[0-9A-Za-z+*!#$%&'.^_`|~-]+";

/** spec: Event. Publishing checks it by lib/cloudevents/cloudevents.ts, whose faults are `invalid_event`. */
export const CloudEvent = component(
  "CloudEvent",
  {
    specversion: Type.Literal("1.0", { description: "Version of CloudEvents." }),
    id: Type.String({ ...text, description: "Deduplication key, unique within the tenant." }),
    source: Type.String({ format: "uri-reference", ...URI, description: "Producing system." }),
    type: Type.String({
      ...text,
      maxLength: MAX_TYPE_LENGTH,
      description: "Event type in reverse-DNS form, such as `com.example.order.created`.",
    }),
    ...optional({
      subject: Type.String({ ...text, description: "What the event is about." }),
      time: DateTime("When the event happened (RFC 3339)."),
      datacontenttype: Type.String({
        maxLength: MAX_ATTRIBUTE,
        pattern: `^${TOKEN}/${TOKEN}`,
        description: "Media type of `data`.",
      }),
      dataschema: Type.String({ format: "uri", ...URI, description: "Schema of `data`." }),
      notbefore: DateTime(
        `Not to be delivered before this time (RFC 3339), at most ${MAX_DELAY_DAYS} days ahead.`,
      ),
      data: Type.Unknown({
        description: "Any JSON. Numbers are stored as doubles: send integers beyond 2^53 as strings.",
      }),
      data_base64: Type.String({
        contentEncoding: "base64",
        pattern: "^[A-Za-z0-9+/]*={0,2}$",
        description: "Binary data in base64, instead of `data`.",
      }),
    }),
  },
  {
    additionalProperties: true,
    description:
      "A CloudEvents 1.0 envelope. Other names are extension attributes: their names consist of lower-case letters and " +
      "digits, their values are strings without control characters, booleans or 32-bit integers.",
    examples: [EVENT_EXAMPLE],
  },
);

const EventId = Id("evt", "Id that the service gave the event.");

export const Differs = Type.Optional(
  Type.Boolean({
    description:
      "True for a duplicate whose source or content differs from the first event's, apart from the time: it was not stored. Otherwise absent.",
  }),
);

export const PublishResult = component("PublishResult", {
  event_id: EventId,
  status: oneOf(["accepted", "duplicate"], {
    description: "`duplicate`: an event with this `id` exists, and `event_id` is its id.",
  }),
  differs: Differs,
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: "What looks like a slip in its type. Otherwise absent.",
      examples: [["The type `com..order` has an empty part between dots. Did you mean `com.order`?"]],
    }),
  ),
});

const BatchResult = Type.Array(
  Type.Union([
    PublishResult,
    component(
      "RejectedEvent",
      {
        status: Type.Literal("rejected"),
        error: Type.Object({
          code: Type.String(),
          message: Type.String(),
          details: Type.Record(Type.String(), Type.Unknown()),
        }),
      },
      { description: "The error of one event of a batch." },
    ),
  ]),
  { description: "Batch mode: one result for each event, in order." },
);

export const publishEvent = operation({
  action: "events.publish",
  route: "POST /events",
  summary: "Publish an event",
  description:
    "Takes CloudEvents in structured mode (`application/cloudevents+json` or `application/json`), binary mode (`ce-*` " +
    `headers) or batch mode (\`application/cloudevents-batch+json\`: at most ${BATCH_MAX_EVENTS} events and 4 MB; an ` +
    "invalid event does not affect the others). 202 means that the event is durable. An event with the extension " +
    "attribute `notbefore` waits until that time, and is then matched to the interests of that time. The types " +
    "`service.*` and `memory.cited` are reserved for the service.",
  access: { by: "any", scope: "send" },
  consumes: "cloudevents",
  wholeBody: true,
  body: { event: CloudEvent },
  maxBody: BATCH_MAX_BYTES,
  results: { 202: Type.Union([PublishResult, BatchResult]), 200: PublishResult },
  errors: ["invalid_event"],
  mcp: {
    description:
      "Use this to tell other agents that something happened. `type` and `data` suffice. Returns `accepted` once the event is stored, or `duplicate` for a known `id`. The types `service.*` and `memory.cited` are reserved.",
    core: ["type", "data", "subject", "id"],
    aliases: { type: ["event_type", "topic"], data: ["payload", "body", "event_data"] },
  },
});

const EVENT_STATES = ["accepted", "waiting", "matched", "parked"] as const;
export type EventState = (typeof EVENT_STATES)[number];

const OUTCOMES = ["dead", "pending", "done", "none"] as const;
export type Outcome = (typeof OUTCOMES)[number];

const summary = {
  event_id: EventId,
  state: oneOf(EVENT_STATES, {
    description:
      "How far its matching is. `waiting`: for its `notbefore`. `matched`: compared with all interests and feeds. " +
      "`parked`: matching failed five times; an admin can retry it.",
  }),
  accepted_at: Timestamp,
  waits_until: nullable(DateTime("While it waits: when it will be matched.")),
  matched_at: nullable(Timestamp),
  matched_count: nullable(Type.Integer({ description: "Agents it was matched to; null before matching." })),
  duplicate_sources: Type.Integer({ description: "Number of events with the same id from other sources." }),
  publisher_id: nullable(
    Type.String({ description: "Agent or user; null for the service and for ingested events." }),
  ),
  payload: CloudEvent,
};

export const EventSummary = component("EventSummary", summary);

/** The outcome of an event, as lists and the event's page show it. */
export const eventOutcome = {
  outcome: oneOf(OUTCOMES, {
    description:
      "`dead`: at least one of its deliveries is a dead letter, or it is parked. Otherwise `pending`: it is not " +
      "matched yet, or at least one of its deliveries is pending. `none`: it matched no agent and has no deliveries. " +
      "`done`: each delivery was acknowledged or discarded.",
  }),
  deliveries: Type.Object(
    { pending: Type.Integer(), acknowledged: Type.Integer(), dlq: Type.Integer() },
    { description: "Number of its deliveries by state, without discarded ones." },
  ),
};

const ListedEvent = component("ListedEvent", { ...summary, ...eventOutcome });

export const listEvents = operation({
  action: "events.list",
  route: "GET /events",
  summary: "List events, newest first",
  description:
    "Use this to see what happened. Returns events that the caller published (with `send`) or received (agents with `receive`); for admins, all. A page may have fewer than `limit` events and still a `next_cursor`: a request returns at most 4 MB, counts at most about 10,000 deliveries, and scans about 200,000 events, or two seconds without a match.",
  access: { by: "any" },
  query: {
    ...optional({
      type: Type.String({ description: "Only types that match this glob.", examples: ["com.github.*"] }),
      source: Type.String({ description: "Only this source." }),
      subject: Type.String({ description: "Only this subject." }),
      id: Type.String({ description: "Only this `id`, as the producer sent it." }),
      since: DateTime("Only events accepted at this time or later."),
      unmatched: Type.Boolean({ description: "Only events that matched no agent." }),
      outcome: oneOf(["dead", "pending", "none"], {
        description:
          "Only events with this outcome now: at least one dead letter or parked (`dead`); none of these, and not matched " +
          "yet or with a pending delivery (`pending`); no deliveries at all (`none`).",
      }),
      waiting: Type.Boolean({ description: "Only events that wait for their `notbefore`." }),
      include_service: Type.Boolean({
        default: true,
        description: "False: without the service's own events (`service.*`, `memory.cited`).",
      }),
    }),
    limit: page.limit,
    cursor: Type.Optional(Type.String({ description: "`next_cursor` of the previous page." })),
  },
  answer: Type.Object({ events: Type.Array(ListedEvent), next_cursor: nullable(Type.String()) }),
  errors: ["insufficient_scope", "validation_error"],
  mcp: {
    description:
      "Use this to see what happened, and which events are dead-lettered or pending (`outcome`). Returns events that the caller published or received; for admins, all. Continue with `next_cursor`, even if a page has fewer than `limit`.",
  },
});

export const streamEvents = operation({
  action: "events.stream",
  route: "GET /events/stream",
  summary: "Stream new events as server-sent events",
  description:
    "Sends `event: ready` with the time as `at` from which events are new, and then `event: event` for each event that `GET /events` " +
    "newly returns to the caller, as it is listed there, without `outcome` and `deliveries`. Nothing is received or acknowledged. After a break, continue with " +
    "`since`: events of the ten seconds before it may be sent twice. " +
    "Events are new when they are accepted: a delayed event is not sent again when it is due. Of more than 2,000 events at a time only the latest are sent.",
  access: { by: "any" },
  query: optional({
    type: Type.String({ description: "Only types that match this glob.", examples: ["com.github.*"] }),
    since: DateTime("Begin with events accepted at this time or later."),
  }),
  answer: Type.String(),
  produces: ["text/event-stream"],
  stream: true,
  errors: ["insufficient_scope", "validation_error"],
});

export const TimelineEntry = component("TimelineEntry", {
  at: Timestamp,
  what: Type.String({ examples: ["published"] }),
  reason: Type.Optional(Type.String()),
});
export type TimelineEntry = Static<typeof TimelineEntry>;

const EventReceiver = component("EventReceiver", {
  delivery_id: Id("dlv"),
  agent_id: Id("ag"),
  state: Type.String(),
  attempt_count: Type.Integer(),
  matched: Type.Object({ interest_ids: Type.Array(Type.String()), feed_ids: Type.Array(Type.String()) }),
  timeline: Type.Array(TimelineEntry),
});

export const getEvent = operation({
  action: "events.get",
  route: "GET /events/{event_id}",
  summary: "Read an event and its deliveries",
  description:
    "Use this to see whether an event was delivered. Returns it with its timeline and delivery counts; for " +
    "admins, also each receiver.",
  access: { by: "any" },
  answer: Type.Object({
    ...summary,
    ...eventOutcome,
    park_reason: nullable(Type.String()),
    timeline: Type.Array(TimelineEntry),
    receivers: Type.Optional(
      Type.Array(EventReceiver, {
        description: "For admins: the first 1,000 receivers.",
      }),
    ),
  }),
  errors: ["insufficient_scope"],
  mcp: true,
});

export const retryEvent = operation({
  action: "events.retry",
  route: "POST /events/{event_id}/retry",
  summary: "Retry the matching of a parked event",
  description: "Use this for an event with the state `parked`, after fixing the cause in `park_reason`.",
  access: { by: "any", scope: "admin" },
  results: { 202: PublishResult },
  errors: ["conflict"],
});

export const cancelEvent = operation({
  action: "events.cancel",
  route: "DELETE /events/{event_id}",
  summary: "Cancel a delayed event",
  description:
    "Use this for an event of the caller's, for admins of anybody's, that waits for its `notbefore`: it is never " +
    "delivered, and its `id` can be used again. Any other event is a `conflict`. Returns nothing.",
  access: { by: "any", scope: "send" },
  errors: ["conflict"],
  mcp: true,
});
