import { type Static, Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { Id, Name, page, SECRET, SomeText, Timestamp } from "../../../lib/contract/schema.ts";
import { Mapping, Source } from "../ingest/mapping.contract.ts";

export const CONNECTOR_KINDS = ["amqp091", "amqp10"] as const;
export type ConnectorKind = (typeof CONNECTOR_KINDS)[number];

/**
 * The state last reported by its nodes. `retrying`: it could not connect, was disconnected, or its messages cannot be
 * stored; it retries by itself. `failed`: it cannot even be tried.
 */
const CONNECTOR_STATES = ["connecting", "consuming", "paused", "retrying", "failed"] as const;
export type ConnectorState = (typeof CONNECTOR_STATES)[number];

const admin = { by: "any", scope: "admin" } as const;

const Kind = oneOf(CONNECTOR_KINDS, {
  description:
    "Protocol of the broker. `amqp091`: RabbitMQ. `amqp10`: Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ's plugin.",
  examples: ["amqp091"],
});
const From = (description: string, example: string) => SomeText(255, description, example);
const Queue = From("Queue to consume, which must exist. Required for `amqp091`.", "orders");
const Address = From("Source to consume. Required for `amqp10`.", "/amq/queue/orders");
const Paused = Type.Boolean({ description: "Whether the connector is paused.", examples: [true] });
const Prefetch = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: "Maximum unacknowledged messages per node.",
  examples: [100],
});

const ConnectorMapping = component(
  "ConnectorMapping",
  {
    ...Mapping.properties,
    id: Type.Optional(
      nullable(
        SomeText(
          300,
          "Id of the event, not of what it is about. Default: the broker's message id (or offset in a stream) with a hash of the message, else a new one.",
          "/event_id",
        ),
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      "Maps messages to events, as for webhooks. `header:NAME` is a header (AMQP 0-9-1) or an application property (AMQP 1.0).",
  },
);

export type ConnectorMapping = Static<typeof ConnectorMapping>;

export const ConnectorView = component("Connector", {
  id: Id("con"),
  name: Name,
  kind: Kind,
  url: Type.String({
    description: "Address of the broker, without credentials and query.",
    examples: ["amqps://***@rabbit.example.com/"],
  }),
  queue: nullable(Queue),
  address: nullable(Address),
  source: Source,
  mapping: ConnectorMapping,
  prefetch: Prefetch,
  paused: Paused,
  state: oneOf(CONNECTOR_STATES, { examples: ["consuming"] }),
  last_error: nullable(
    Type.String({
      description: "The latest error; kept after recovery.",
      examples: ["connect ECONNREFUSED 192.0.2.7:5671"],
    }),
  ),
  last_error_at: nullable(Timestamp),
  counts: Type.Object({
    received: Type.Integer({ description: "Messages received, repetitions included." }),
    accepted: Type.Integer({
      description: "Messages accepted as new events; redelivered duplicates do not count.",
    }),
    duplicates: Type.Integer({ description: "Messages whose id an event has already." }),
    differing_duplicates: Type.Integer({
      description:
        "Duplicates whose source or content differs from the first event's. They were not stored: choose an `id` that " +
        "identifies the event.",
    }),
    mapping_errors: Type.Integer({
      description: "Messages that could not be mapped and were dead-lettered.",
    }),
  }),
  lag: nullable(Type.Integer({ description: "Messages waiting at the broker, if it reports them." })),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const createConnector = operation({
  action: "connectors.create",
  route: "POST /ingest/connectors",
  summary: "Create a connector that turns a broker's messages into events",
  description:
    "A message is acknowledged once its event is durable. Messages in structured mode " +
    "(`application/cloudevents+json`) are taken with their id as `CONNECTOR:SOURCE ID`; others must be JSON and are mapped. A message that cannot " +
    "be mapped becomes a dead letter with the reason `mapping error: …`. A tenant has at most 50 connectors.",
  access: admin,
  body: {
    name: Name,
    kind: Kind,
    url: Type.String({
      ...SECRET,
      pattern: "^amqps?://[^/?#]",
      maxLength: 2000,
      description:
        "Address of the broker with its credentials, `amqp://` or `amqps://`. For `amqp091` the path is the virtual host.",
      examples: ["amqps://user:password@rabbit.example.com/"],
    }),
    queue: Type.Optional(Queue),
    address: Type.Optional(Address),
    source: Source,
    mapping: ConnectorMapping,
    prefetch: Type.Optional(Prefetch),
    paused: Type.Optional(Paused),
  },
  results: { 201: ConnectorView },
  errors: ["validation_error", "business_rule_violation"],
});

export const listConnectors = operation({
  action: "connectors.list",
  route: "GET /ingest/connectors",
  summary: "List connectors with their state, oldest first",
  access: admin,
  query: page,
  answer: Type.Object({ connectors: Type.Array(ConnectorView), total: Type.Integer() }),
});

export const getConnector = operation({
  action: "connectors.get",
  route: "GET /ingest/connectors/{connector_id}",
  summary: "Read a connector and its state",
  access: admin,
  answer: ConnectorView,
});

export const updateConnector = operation({
  action: "connectors.update",
  route: "PATCH /ingest/connectors/{connector_id}",
  summary: "Pause, resume or remap a connector",
  description:
    "Messages already received are finished first; the rest stay at the broker. `mapping` replaces the whole " +
    "mapping; messages that the previous one could not map can be replayed from the dead letters.",
  access: admin,
  overQuota: true,
  body: optional({
    name: Name,
    mapping: ConnectorMapping,
    prefetch: Prefetch,
    paused: Paused,
  }),
  answer: ConnectorView,
});

export const deleteConnector = operation({
  action: "connectors.delete",
  route: "DELETE /ingest/connectors/{connector_id}",
  summary: "Delete a connector",
  description: "Messages already received are finished first; the rest stay at the broker.",
  access: admin,
});
