import { isUtf8 } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import { type BrokerMessage, HEAD_BYTES } from "../../../connectors/connector.ts";
import { binaryEvent, readAttributes } from "../../../lib/cloudevents/binary.ts";
import { decode } from "../../../lib/http/content-encoding.ts";
import { mediaTypeOf } from "../../../lib/http/media-type.ts";
import { parseJsonBytes, unreadableJson } from "../../../lib/json/json.ts";
import { metrics } from "../../../observability/metrics.ts";
import { thrownMappingError } from "../deliveries/dead-letter-state.ts";
import type { Again } from "../deliveries/deliveries.model.ts";
import { type Entered, type Entering, enterAll, type Later } from "../ingest/enter.ts";
import { compileMapping, type Mapped, type Mapping, mapCloudEvent } from "../ingest/mapping.ts";
import type { ConnectorDoc, Verdict } from "./connectors.model.ts";

const STRUCTURED = "application/cloudevents+json";
const HASH_CHARACTERS = 16;

/** A message as an event to publish, or as the content of its dead letter. */
type Read =
  | { event: unknown; payload: unknown; origin: Origin }
  | { error: string; payload: unknown; origin?: Origin };

/** Data that another mapping needs besides the payload. */
type Origin = Pick<Again, "default_id" | "headers" | "structured">;

export function mapAgain(
  doc: ConnectorDoc,
  { payload, received_at, ...origin }: Omit<Again, "tenant_id" | "registration_id">,
): Mapped {
  const mapping = compileMapping({ ...doc.mapping, source: doc.source });
  return mapOne(mapping, doc._id, payload, { ...origin, now: received_at });
}

function mapOne(
  mapping: Mapping,
  registration_id: string,
  payload: unknown,
  { structured, ...receipt }: Origin & { now?: number },
): Mapped {
  if (structured) return mapCloudEvent(payload, { registration_id });
  return mapping(payload, { ...receipt, registration_id, ce_source: sourceOf(registration_id) });
}

/** Reads a message that is an event in binary mode, without the mapping. */
function readBinary(
  registration_id: string,
  attributes: Record<string, unknown>,
  { content_type, body }: BrokerMessage,
  origin: Origin,
): Read {
  try {
    const payload = binaryEvent(attributes, content_type ?? "", body);
    return { ...mapCloudEvent(payload, { registration_id }), payload, origin };
  } catch (err) {
    return unread(thrownMappingError(err), body);
  }
}

function unread(error: string, body: Buffer): Read {
  return { error, payload: { base64: body.toString("base64") } };
}

/** Headers that brokers add or change when they deliver a message again. */
const REDELIVERY = /^x-(?:delivery-count|acquired-count|(?:first-|last-)?death|stream-offset|opt-)/;

/**
 * Returns the message's id, or its offset in a stream, with a hash of all that a redelivery repeats, as two producers may
 * number their messages alike; null without.
 */
function makeId({
  message_id,
  offset,
  body,
  content_type,
  headers,
  properties,
}: BrokerMessage): string | null {
  const id = message_id ?? offset;
  if (id === undefined) return null;
  const stable = Object.entries(headers).filter(([name]) => !REDELIVERY.test(name));
  const rest = JSON.stringify([content_type, stable.sort(), properties]);
  const hash = createHash("sha256").update(rest).update("\0").update(body).digest("hex");
  return `${id}:${hash.slice(0, HASH_CHARACTERS)}`;
}

function sourceOf(connector_id: string): string {
  return `/ingest/connectors/${connector_id}`;
}

/** Makes messages durable, as events or as dead letters: one verdict for each. @throws Error if nothing could be published */
export type Intake = (messages: BrokerMessage[]) => Promise<Verdict[]>;

export function newIntake(broker: ServiceBroker, registration: ConnectorDoc, maxBytes: number): Intake {
  const mapping = compileMapping({ ...registration.mapping, source: registration.source });
  const of = { inlet: "connectors", registration, source: sourceOf(registration._id) } as const;
  return async (messages) => {
    const read = messages.map((message): Entering => {
      const { headers } = message;
      const dedupe = makeId(message) ?? undefined;
      return { ...readMessage(registration._id, mapping, message, maxBytes), headers, dedupe };
    });
    const verdicts = (await enterAll(broker, of, read)).map(toVerdict);
    for (const verdict of verdicts) metrics.connectorMessages.inc({ outcome: verdict });
    return verdicts;
  };
}

function readMessage(id: string, mapping: Mapping, message: BrokerMessage, maxBytes: number): Read {
  const { body, size, unreadable, content_type, content_encoding, headers } = message;
  if (unreadable !== undefined)
    return unread(`mapping error: the message cannot be read: ${unreadable}`, body);
  if (size > maxBytes) {
    const error = `mapping error: the message has ${size} bytes; the limit is ${maxBytes}`;
    return { error, payload: { bytes: size, head: body.toString("utf8", 0, HEAD_BYTES) } };
  }
  if (content_encoding) {
    const decoded = decode(content_encoding.trim().toLowerCase(), body, maxBytes);
    if (typeof decoded === "string") return unread(`mapping error: ${decoded}`, body);
    const plain = { ...message, body: decoded, size: decoded.length, content_encoding: null };
    return readMessage(id, mapping, plain, maxBytes);
  }
  const default_id = makeId(message) ?? randomUUID();
  const attributes = readAttributes(message.values ?? headers);
  if (attributes) return readBinary(id, attributes, message, { default_id, headers, structured: true });
  if (!isUtf8(body)) return unread("mapping error: the message is not UTF-8", body);
  let payload: unknown;
  try {
    payload = parseJsonBytes(body, { exact: true });
  } catch (err) {
    const error = `mapping error: ${unreadableJson("message", err)}`;
    return { error, payload: body.toString("utf8") };
  }
  const structured = mediaTypeOf(content_type ?? "") === STRUCTURED;
  const origin = { default_id, headers, structured };
  return { ...mapOne(mapping, id, payload, origin), payload, origin };
}

function toVerdict(entered: Entered | Later): Verdict {
  if (entered.status === "dead_lettered") return "mapping_error";
  if (entered.status === "later") return "again";
  return entered.differs ? "differs" : entered.status;
}
