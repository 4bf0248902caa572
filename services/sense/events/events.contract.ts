import { MAX_ATTRIBUTE, MAX_TYPE_LENGTH } from "../../../lib/cloudevents/cloudevents.ts";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

export const BATCH_MAX_EVENTS = 100;
export const BATCH_MAX_BYTES = 10 * 1_048_576;

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
export const CloudEvent = Type.Object(
  {
    specversion: Type.Literal("1.0"),
    id: Type.String({ ...text, description: "Unique within the tenant: the deduplication key." }),
    source: Type.String({ format: "uri-reference", ...URI, description: "The producing system." }),
    type: Type.String({ ...text, maxLength: MAX_TYPE_LENGTH, description: "Reverse-DNS event type." }),
    subject: Type.Optional(Type.String({ ...text, description: "What the event is about." })),
    time: Type.Optional(Type.String({ format: "date-time" })),
    datacontenttype: Type.Optional(
      Type.String({
        maxLength: MAX_ATTRIBUTE,
        pattern: `^${TOKEN}/${TOKEN}`,
        description: "Media type of `data`.",
      }),
    ),
    dataschema: Type.Optional(Type.String({ format: "uri", ...URI })),
    data: Type.Optional(
      Type.Unknown({
        description:
          "Any JSON. Its numbers are kept as doubles: an integer beyond 2^53 is exact as text only, and one beyond 1.8e308 is refused.",
      }),
    ),
    data_base64: Type.Optional(
      Type.String({
        contentEncoding: "base64",
        pattern: "^[A-Za-z0-9+/]*={0,2}$",
        description: "Binary data, instead of `data`.",
      }),
    ),
  },
  {
    title: "CloudEvent",
    additionalProperties: true,
    description:
      "A CloudEvents 1.0 envelope. Other names are extension attributes, of lower-case letters and digits: strings " +
      "without control characters, booleans or 32-bit integers.",
    examples: [EVENT_EXAMPLE],
  },
);

const EventId = Id("evt", "The service's id of the event.");

const PublishResult = Type.Object(
  {
    event_id: EventId,
    status: oneOf(["accepted", "duplicate"], {
      description: "`duplicate`: the id is known; `event_id` is the original's.",
    }),
  },
  { title: "PublishResult" },
);

const BatchResult = Type.Array(
  Type.Union([
    PublishResult,
    Type.Object(
      {
        status: Type.Literal("rejected"),
        error: Type.Object({
          code: Type.String(),
          message: Type.String(),
          details: Type.Record(Type.String(), Type.Unknown()),
        }),
      },
      { title: "RejectedEvent", description: "The error of one event of a batch." },
    ),
  ]),
  { description: "Batch mode: one result for each event, in order." },
);

export const publishEvent = operation({
  action: "events.publish",
  route: "POST /events",
  summary: "Publish an event",
  description:
    "CloudEvents structured mode (`application/cloudevents+json` or `application/json`), binary mode (`ce-*` headers) " +
    `or batch mode (\`application/cloudevents-batch+json\`: at most ${BATCH_MAX_EVENTS} events and 10 MB, where one bad ` +
    "event does not refuse the rest). 202 means that the event is durable. The types `service.*` and " +
    "`memory.cited` are the service's own.",
  access: { by: "any", scope: "send" },
  consumes: "cloudevents",
  wholeBody: true,
  body: { event: CloudEvent },
  maxBody: BATCH_MAX_BYTES,
  results: { 202: Type.Union([PublishResult, BatchResult]), 200: PublishResult },
  errors: ["invalid_event", "payload_too_large", "unsupported_media_type", "service_unavailable"],
  mcp: {
    description:
      "One CloudEvent: `type` and `data` suffice. It is durable once accepted; a known `id` returns `duplicate` and is not " +
      "published again. The types `service.*` and `memory.cited` are reserved for the service.",
  },
});

const EVENT_STATES = ["accepted", "fanned_out", "parked"] as const;

const summary = {
  event_id: EventId,
  state: oneOf(EVENT_STATES, { description: "`parked`: fan-out failed five times; an admin may retry it." }),
  accepted_at: Timestamp,
  fanned_out_at: nullable(Timestamp),
  matched_count: nullable(Type.Integer({ description: "Agents it was matched to; null before fan-out." })),
  duplicate_sources: Type.Integer({ description: "How often another source used its id." }),
  publisher_id: nullable(
    Type.String({ description: "Agent or user; null for the service and for ingested events." }),
  ),
  payload: CloudEvent,
};

const EventSummary = Type.Object(summary, { title: "EventSummary" });

export const listEvents = operation({
  action: "events.list",
  route: "GET /events",
  summary: "List events, newest first",
  description:
    "A caller with `send` sees events that it published, an agent with `receive` those delivered to it, an admin all. A " +
    "page may hold fewer events than asked for and still have a `next_cursor`: a request returns at most 4 MB and scans " +
    "some 200,000 events, or stops after two seconds without a match.",
  access: { by: "any" },
  query: {
    type: Type.Optional(Type.String({ description: "Glob over types.", examples: ["com.github.*"] })),
    source: Type.Optional(Type.String()),
    subject: Type.Optional(Type.String()),
    id: Type.Optional(Type.String({ description: "The producer's id." })),
    since: Type.Optional(
      Type.String({ format: "date-time", description: "Accepted at this time or later." }),
    ),
    unmatched: Type.Optional(Type.Boolean({ description: "Only events without a match." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ description: "`next_cursor` of the previous page." })),
  },
  results: { 200: Type.Object({ events: Type.Array(EventSummary), next_cursor: nullable(Type.String()) }) },
  errors: ["insufficient_scope", "validation_error"],
  mcp: true,
});

const TimelineEntry = Type.Object(
  {
    at: Timestamp,
    what: Type.String({ examples: ["published"] }),
    reason: Type.Optional(Type.String()),
  },
  { title: "TimelineEntry" },
);

const EventReceiver = Type.Object(
  {
    delivery_id: Id("dlv"),
    agent_id: Id("ag"),
    state: Type.String(),
    attempt_count: Type.Integer(),
    matched: Type.Object({ interest_ids: Type.Array(Type.String()), feed_ids: Type.Array(Type.String()) }),
    timeline: Type.Array(TimelineEntry),
  },
  { title: "EventReceiver" },
);

export const getEvent = operation({
  action: "events.get",
  route: "GET /events/{event_id}",
  summary: "Read an event and its deliveries",
  access: { by: "any" },
  path: { event_id: EventId },
  results: {
    200: Type.Object({
      ...summary,
      park_reason: nullable(Type.String()),
      timeline: Type.Array(TimelineEntry),
      deliveries: Type.Object({
        pending: Type.Integer(),
        acknowledged: Type.Integer(),
        dlq: Type.Integer(),
      }),
      receivers: Type.Optional(
        Type.Array(EventReceiver, {
          description: "For admins: one row for each receiver, the first 1,000 of them.",
        }),
      ),
    }),
  },
  errors: ["not_found", "insufficient_scope"],
  mcp: true,
});

export const retryEvent = operation({
  action: "events.retry",
  route: "POST /events/{event_id}/retry",
  summary: "Retry the fan-out of a parked event",
  access: { by: "any", scope: "admin" },
  path: { event_id: EventId },
  results: { 202: PublishResult },
  errors: ["not_found", "conflict"],
});

export const eventsOperations = [publishEvent, listEvents, getEvent, retryEvent] as const;
