import type { IncomingMessage } from "node:http";
import { isUri, isUriReference } from "../../lib/cloudevents.ts";
import { binaryEvent } from "../../lib/cloudevents-binary.ts";
import { Fault } from "../../lib/faults.ts";
import { BATCH_MAX_BYTES, BATCH_MAX_EVENTS } from "../events/events.contract.ts";
import { mediaType, parseJson, readRaw, unsupported } from "./body.ts";
import { headerText } from "./client.ts";
import { parseFairly } from "./json-bodies.ts";
import { readListInPieces } from "./pieces.ts";
import type { BodyReader } from "./pipeline.ts";
import { shareOf } from "./share.ts";

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";

/**
 * Reads events as the CloudEvents HTTP binding sends them: structured and binary mode as `{event}`, batch mode as
 * `{events}`. The events are parsed, not checked: events.publish does that (spec: Events 1).
 *
 * @throws Fault payload_too_large over `eventMaxBytes` (a batch: 10 MB), unsupported_media_type, validation_failed.
 */
export function cloudEventsReader(eventMaxBytes: number): BodyReader {
  return async (exchange) => {
    const { req } = exchange;
    const type = mediaType(req);
    if (type === BATCH) return readListInPieces(exchange, BATCH_LIST);
    const isBinary = type !== STRUCTURED && isBinaryMode(req);
    if (!isBinary && type !== STRUCTURED && type !== "application/json")
      throw unsupported(type, [STRUCTURED, BATCH, "application/json", "any type with ce-* headers"]);
    const raw = await readRaw(req, eventMaxBytes);
    const parse = isBinary ? (body: Buffer) => fromBinary(req, body) : parseJson;
    return { event: await parseFairly<unknown>(raw, shareOf(exchange), parse) };
  };
}

const BATCH_LIST = { name: "events", maxBytes: BATCH_MAX_BYTES, check: asBatch };

function asBatch(body: unknown): unknown[] {
  if (Array.isArray(body) && body.length <= BATCH_MAX_EVENTS) return body;
  const value = Array.isArray(body) ? `${body.length} events` : typeof body;
  const expected = `an array of at most ${BATCH_MAX_EVENTS} events`;
  throw new Fault("validation_failed", `The batch: expected ${expected}.`, {
    field: "",
    value,
    expected,
    example: [],
  });
}

function isBinaryMode(req: IncomingMessage): boolean {
  return req.headers["ce-specversion"] !== undefined || req.headers["ce-id"] !== undefined;
}

function fromBinary(req: IncomingMessage, body: Buffer): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const [header, value] of Object.entries(req.headers)) {
    if (header.startsWith("ce-")) attributes[header.slice(3)] = attribute(header.slice(3), String(value));
  }
  return binaryEvent(attributes, req.headers["content-type"] ?? "", body);
}

/**
 * A header's value with its percent-encoding undone (HTTP binding 3.1.3.2). Some producers, the JavaScript SDK among
 * them, send URIs as they are: where only the raw value is a URI, it is the one that was meant.
 */
function attribute(name: string, raw: string): string {
  const value = decode(unquoted(raw));
  if (name === "source" && !isUriReference(value) && isUriReference(raw)) return raw;
  if (name === "dataschema" && !isUri(value) && isUri(raw)) return raw;
  return value;
}

function unquoted(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1).replace(/\\(.)/g, "$1")
    : value;
}

function decode(value: string): string {
  const text = headerText(value);
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
