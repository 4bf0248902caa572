import type { IncomingMessage } from "node:http";
import { type CloudEvent, invalidEvent, isUri, isUriReference } from "../../lib/cloudevents.ts";
import { Fault } from "../../lib/faults.ts";
import { NumberTooLarge, parseJsonText } from "../../lib/json.ts";
import { BATCH_MAX_BYTES, BATCH_MAX_EVENTS } from "../events/events.contract.ts";
import { mediaType, parseJson, readRaw, unsupported } from "./body.ts";
import { headerText } from "./client.ts";
import { readListInPieces } from "./pieces.ts";
import type { BodyReader } from "./pipeline.ts";

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
    if (type === STRUCTURED) return { event: parseJson(await readRaw(req, eventMaxBytes)) };
    if (isBinaryMode(req)) return { event: fromBinary(req, type, await readRaw(req, eventMaxBytes)) };
    if (type === "application/json") return { event: parseJson(await readRaw(req, eventMaxBytes)) };
    throw unsupported(type, [STRUCTURED, BATCH, "application/json", "any type with ce-* headers"]);
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

function fromBinary(req: IncomingMessage, type: string, body: Buffer): Record<string, unknown> {
  const event: Record<string, unknown> = {};
  for (const [header, value] of Object.entries(req.headers)) {
    if (header.startsWith("ce-")) event[header.slice(3)] = attribute(header.slice(3), String(value));
  }
  for (const name of ["data", "data_base64"]) {
    if (event[name] !== undefined) throw invalidEvent(name, event[name], `the body, not a header ce-${name}`);
  }
  if (type) event.datacontenttype = req.headers["content-type"];
  return body.length ? Object.assign(event, dataOf(req, type, body)) : event;
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

const JSON_TYPE = /^[^/]+\/(?:[^/]+\+)?json$/;
const TEXT_TYPE = /^text\/|^application\/(?:[^/]+\+)?xml$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** The body as data: JSON parsed, text as a string, anything else as base64. */
function dataOf(req: IncomingMessage, type: string, body: Buffer): Pick<CloudEvent, "data" | "data_base64"> {
  if (JSON_TYPE.test(type)) return { data: jsonData(body) };
  if (TEXT_TYPE.test(type) && saysUtf8(req)) {
    try {
      return { data: UTF8.decode(body) };
    } catch {
      // Not the text it says it is: kept as the bytes it is.
    }
  }
  return { data_base64: body.toString("base64") };
}

function jsonData(body: Buffer): unknown {
  try {
    return parseJsonText(UTF8.decode(body));
  } catch (err) {
    if (err instanceof NumberTooLarge) {
      throw invalidEvent(
        ["data", err.field].filter(Boolean).join("."),
        null,
        "numbers that a double can hold",
      );
    }
    throw invalidEvent("data", body.subarray(0, 100).toString("latin1"), "JSON, as datacontenttype says");
  }
}

function saysUtf8(req: IncomingMessage): boolean {
  const charset = /charset="?([^\s";]+)/i.exec(req.headers["content-type"] ?? "")?.[1] ?? "utf-8";
  return ["utf-8", "utf8", "us-ascii"].includes(charset.toLowerCase());
}
