import { mediaTypeOf } from "../http/media-type.ts";
import { NumberTooLarge, parseJsonBytes } from "../json/json.ts";
import { type CloudEvent, invalidEvent } from "./cloudevents.ts";

const JSON_TYPE = /^[^/]+\/(?:[^/]+\+)?json$/;
const TEXT_TYPE = /^text\/|^application\/(?:[^/]+\+)?xml$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * A message of a binary mode as an event: attributes from its headers, data from its body. `contentType` is as it was
 * given, "" where it was not. The event is not checked, but for its data.
 *
 * @throws Fault invalid_event
 */
export function binaryEvent(
  attributes: Record<string, unknown>,
  contentType: string,
  body: Buffer,
): Record<string, unknown> {
  for (const name of ["data", "data_base64"]) {
    if (attributes[name] !== undefined) {
      throw invalidEvent(name, attributes[name], `the body, not a header for ${name}`);
    }
  }
  const event = { ...attributes, ...(contentType && { datacontenttype: contentType }) };
  return body.length ? { ...event, ...dataOf(contentType, body) } : event;
}

/** The body as data: JSON parsed, text as a string, anything else as base64. */
function dataOf(contentType: string, body: Buffer): Pick<CloudEvent, "data" | "data_base64"> {
  const type = mediaTypeOf(contentType);
  if (JSON_TYPE.test(type)) return { data: jsonData(body) };
  try {
    // SDKs leave the type of JSON out: data without a type is JSON to them. What else it may be is bytes.
    if (!type && OPENS_JSON.includes(body[0] as number)) return { data: jsonData(body) };
    if (TEXT_TYPE.test(type) && saysUtf8(contentType)) return { data: UTF8.decode(body) };
  } catch {
    // Not what it seems to be: kept as the bytes it is.
  }
  return { data_base64: body.toString("base64") };
}

const OPENS_JSON = [..."{["].map((character) => character.charCodeAt(0));

function jsonData(body: Buffer): unknown {
  try {
    return parseJsonBytes(body);
  } catch (err) {
    if (err instanceof NumberTooLarge) {
      throw invalidEvent(
        ["data", err.field].filter(Boolean).join("."),
        null,
        "numbers that a double can hold",
      );
    }
    if (err instanceof RangeError) throw invalidEvent("data", null, `JSON that can be read: ${err.message}`);
    throw invalidEvent("data", body.subarray(0, 100).toString("latin1"), "JSON, as datacontenttype says");
  }
}

function saysUtf8(contentType: string): boolean {
  const charset = /charset="?([^\s";]+)/i.exec(contentType)?.[1] ?? "utf-8";
  return ["utf-8", "utf8", "us-ascii"].includes(charset.toLowerCase());
}

/** How attributes are named in headers of a broker's messages: by the binding of AMQP, and by that of RabbitMQ. */
const PREFIX = /^(?:cloudevents[:_]|ce-)/;

/** A header of a broker's message with the type that its protocol gave it. */
export type HeaderValue = string | number | boolean | Date | Uint8Array;

/** Attributes that are text in the CloudEvents type system, whatever type a header has. */
const TEXT_ATTRIBUTES = new Set([
  "specversion",
  "id",
  "source",
  "type",
  "subject",
  "time",
  "dataschema",
  "datacontenttype",
]);

/**
 * The attributes of a broker's message in binary mode, by its headers in lower case; null for a message in none.
 * Extensions keep their types as JSON has them: bytes as base64, times as RFC 3339.
 */
export function attributesOf(
  headers: Readonly<Record<string, HeaderValue | undefined>>,
): Record<string, unknown> | null {
  const attributes = Object.fromEntries(
    Object.entries(headers).flatMap(([header, value]) => {
      if (value === undefined || !PREFIX.test(header)) return [];
      const name = header.replace(PREFIX, "");
      return [[name, TEXT_ATTRIBUTES.has(name) ? textOf(value) : typedOf(value)]];
    }),
  );
  if (attributes.specversion === undefined) return null;
  // A time may come as AMQP's own, in milliseconds.
  const { time } = attributes;
  if (typeof time === "string" && /^\d{1,14}$/.test(time))
    attributes.time = new Date(Number(time)).toISOString();
  return attributes;
}

function textOf(value: HeaderValue): string {
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value);
}

/** The integers of CloudEvents have 32 bits: a number that is none of them stays text. */
function typedOf(value: HeaderValue): string | number | boolean {
  if (typeof value === "boolean") return value;
  return typeof value === "number" && value === (value | 0) ? value : textOf(value);
}
