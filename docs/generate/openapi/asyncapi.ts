import type { TSchema } from "typebox";
import { PLATFORM_EVENTS, PLATFORM_SOURCE } from "../../../lib/cloudevents/platform-types.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import { VERSION_PREFIX } from "../../../services/edge/gateway/router.ts";
import { RUNNING } from "../../../services/extensions.ts";
import { DocumentChange } from "../../../services/remember/documents/documents.contract.ts";
import { MemoryChange, MemoryCitation } from "../../../services/remember/memories/events.contract.ts";
import { DeadLetterNotice } from "../../../services/sense/deliveries/dead-letters.contract.ts";
import { DeliveryEvent, streamDeliveries } from "../../../services/sense/deliveries/deliveries.contract.ts";
import { CloudEvent, publishEvent } from "../../../services/sense/events/events.contract.ts";
import { receiveWebhook, receiveWebhookFromSource } from "../../../services/sense/ingest/ingest.contract.ts";
import { ApprovalChange } from "../../../services/work/approvals/approvals.contract.ts";
import { RunChange } from "../../../services/work/runs/runs.contract.ts";
import { COMPONENTS, INFO } from "./components.ts";
import { Components, exampleOf } from "./schemas.ts";
import { PUSH, PUSH_HEADERS } from "./webhooks.ts";

type Json = Record<string, unknown>;
type Channel = Json & { messages: Record<string, Json> };

const EVENT_TYPE = "application/cloudevents+json";

/**
 * Builds the AsyncAPI 3.0 document: events that the service publishes itself, and how events reach and leave it. Its
 * schemas are those of the OpenAPI document. Pure: equal contracts give equal documents.
 */
export function asyncApiDocument(): Json {
  const components = new Components();
  const { description: _, summary, license, ...info } = INFO;
  const channels = channelsOf(components);
  return {
    asyncapi: "3.0.0",
    info: {
      ...info,
      description: `${summary} The messages of the service; its operations are in \`/openapi.json\`.`,
      license: { name: license.name, url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    defaultContentType: "application/json",
    servers: {
      installation: {
        host: "{host}",
        protocol: "http",
        description: "This installation.",
        variables: { host: { default: "127.0.0.1:3000", description: "Its host and port." } },
      },
    },
    channels,
    operations: operationsOf(channels),
    components: {
      schemas: Object.fromEntries(Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: { bearer: COMPONENTS.securitySchemes.bearer },
    },
  };
}

function channelsOf(components: Components): Record<string, Channel> {
  const event = messageOf("An event", CloudEvent, components, EVENT_TYPE);
  const result = messageOf("The result", receiveWebhook.results[202], components);
  const webhook = { title: "A webhook", headers: headersOf(WEBHOOK_HEADERS), payload: {} };
  return {
    events: {
      ...channelOf(publishEvent),
      messages: {
        event,
        published: messageOf("The result", publishEvent.results[202], components),
      },
    },
    platformEvents: {
      address: null,
      title: "Events of the service",
      description:
        "Events that the service publishes itself, with ids and states but no content. They reach agents like any other event, by stream, push or " +
        "poll: subscribe with an interest whose `event_type` begins with `service.`, or is `memory.cited`. Events " +
        "about runs and memories are published only if an interest or a feed of the tenant matches them.",
      messages: Object.fromEntries(
        platformEvents.map((each) => [each.type, platformMessage(each, components)]),
      ),
    },
    deliveries: {
      ...channelOf(streamDeliveries),
      messages: {
        delivery: {
          ...messageOf("A delivery", DeliveryEvent, components),
          description: "`data` of the server-sent event `delivery`, whose `id` is the delivery's.",
        },
      },
    },
    pushes: {
      address: null,
      title: "Pushes",
      description: "The `delivery_endpoint` of an agent.",
      messages: {
        structured: { ...event, title: "A push, structured", headers: headersOf(PUSH_HEADERS) },
        binary: {
          title: "A push, binary",
          summary: "The body is the event's `data`, of the media type in `Content-Type`.",
          headers: headersOf([...PUSH_HEADERS, ...CE_HEADERS]),
          payload: {},
        },
      },
    },
    webhooks: { ...channelOf(receiveWebhook), messages: { webhook, result } },
    webhooksOfSource: { ...channelOf(receiveWebhookFromSource), messages: { webhook, result } },
  };
}

function operationsOf(channels: Record<string, Channel>): Json {
  return {
    publishEvent: {
      ...takes("events", "event", "published"),
      ...told(publishEvent),
      security: [{ $ref: "#/components/securitySchemes/bearer" }],
    },
    publishPlatformEvent: {
      ...gives(channels, "platformEvents"),
      summary:
        "Publish what happened to runs, memories, documents, deliveries, approvals and what extensions add",
    },
    streamDeliveries: {
      ...gives(channels, "deliveries"),
      ...told(streamDeliveries),
      security: [{ $ref: "#/components/securitySchemes/bearer" }],
    },
    pushDelivery: { ...gives(channels, "pushes"), ...PUSH, bindings: http("POST") },
    receiveWebhook: {
      ...takes("webhooks", "webhook", "result"),
      ...told(receiveWebhook),
    },
    receiveWebhookFromSource: {
      ...takes("webhooksOfSource", "webhook", "result"),
      ...told(receiveWebhookFromSource),
    },
  };
}

/** An operation by which the service sends the messages of a channel. */
function gives(channels: Record<string, Channel>, channel: string): Json {
  const names = Object.keys(channels[channel]?.messages ?? {});
  return { action: "send", channel: at(channel), messages: names.map((name) => at(channel, name)) };
}

/** An operation by which it receives one message of a channel and answers with another. */
function takes(channel: string, message: string, reply: string): Json {
  return {
    action: "receive",
    channel: at(channel),
    messages: [at(channel, message)],
    reply: { channel: at(channel), messages: [at(channel, reply)] },
  };
}

function at(channel: string, message?: string): Json {
  return { $ref: `#/channels/${channel}${message === undefined ? "" : `/messages/${message}`}` };
}

type Described = Pick<Operation, "url" | "root" | "method" | "summary" | "description" | "path" | "query">;

function channelOf(declared: unknown): Json {
  const { url, root, summary, path } = declared as Described;
  const parameters = Object.entries((path ?? {}) as Record<string, JsonSchema>).map(
    ([name, { description }]) => [name, { description }] as const,
  );
  return {
    address: root ? url : VERSION_PREFIX + url,
    title: summary,
    servers: [{ $ref: "#/servers/installation" }],
    ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters) }),
  };
}

function told(declared: unknown): Json {
  const { summary, description, method, query } = declared as Described;
  return { summary, description, bindings: http(method, query as Record<string, JsonSchema> | undefined) };
}

function http(method: string, properties?: Record<string, JsonSchema>): Json {
  const query = properties && { query: { type: "object", properties: plainOf(properties) } };
  return { http: { method, ...query, bindingVersion: "0.3.0" } };
}

/** Parameters have plain schemas: they add nothing to the named ones. */
function plainOf(properties: Record<string, JsonSchema>): Json {
  return new Components().use({ type: "object", properties }).properties as Json;
}

function messageOf(title: string, declared: unknown, components: Components, contentType?: string): Json {
  const schema = declared as JsonSchema;
  const payload = exampleOf(schema);
  return {
    title,
    ...(contentType !== undefined && { contentType }),
    payload: components.use(schema),
    examples: [{ payload }],
  };
}

/** The envelope of an event with its type and the schema of its data. */
function platformMessage({ type, means, data }: PlatformEvent, components: Components): Json {
  const schema = data as unknown as JsonSchema;
  const envelope = components.use(CloudEvent as unknown as JsonSchema);
  const properties = {
    type: { const: type },
    source: { const: PLATFORM_SOURCE },
    data: components.use(schema),
  };
  const [time, id] = ["2026-01-31T09:30:00.000Z", "evt_4fXq1mCz8Jw0bT7kLr2N"];
  const example = {
    ...{ specversion: "1.0", id, source: PLATFORM_SOURCE, type, time, datacontenttype: "application/json" },
    data: exampleOf(schema),
  };
  return {
    name: type,
    title: type,
    summary: means,
    contentType: EVENT_TYPE,
    payload: { allOf: [envelope, { type: "object", required: ["data"], properties }] },
    examples: [{ payload: example }],
  };
}

interface Header {
  name: string;
  required: boolean;
  description: string;
  schema: object;
  example?: string;
}

const CE_HEADERS = Object.values(COMPONENTS.parameters).filter(({ name }) => name.startsWith("ce-"));

const WEBHOOK_HEADERS: Header[] = [
  {
    name: "x-service-signature",
    required: false,
    description:
      "Hex HMAC-SHA256 of the raw body, keyed with the whole secret; `sha256=` before it is allowed.",
    schema: { type: "string" },
  },
  ...PUSH_HEADERS.filter(({ name }) => name.startsWith("webhook-")).map(({ name, schema: { type } }) => ({
    name,
    required: false,
    description: "As Standard Webhooks defines it, instead of `x-service-signature`.",
    schema: { type },
  })),
];

function headersOf(headers: readonly Header[]): Json {
  const properties = headers.map(
    ({ name, description, schema, example }) =>
      [name, { ...schema, description, ...(example !== undefined && { examples: [example] }) }] as const,
  );
  return {
    type: "object",
    required: headers.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(properties),
  };
}

/** The schema of `data` by the beginning of the type. */
const DATA: Record<string, TSchema> = {
  "memory.": MemoryCitation,
  "service.approval.": ApprovalChange,
  "service.delivery.": DeadLetterNotice,
  "service.document.": DocumentChange,
  "service.memory.": MemoryChange,
  "service.run.": RunChange,
};

interface PlatformEvent {
  type: string;
  means: string;
  data: TSchema;
}

/** The events that the service publishes itself. */
const platformEvents: PlatformEvent[] = [
  ...Object.entries(PLATFORM_EVENTS).map(([type, means]) => {
    const data = DATA[type.slice(0, type.lastIndexOf(".") + 1)] as TSchema;
    return { type, means, data };
  }),
  ...RUNNING.flatMap(({ events = {} }) => Object.entries(events).map(([type, each]) => ({ type, ...each }))),
];
