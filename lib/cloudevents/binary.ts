import { isFault } from "../contract/faults.ts";
import { charsetOf, JSON_TYPE, mediaTypeOf } from "../http/media-type.ts";
import { NumberTooLarge, parseJsonBytes } from "../json/json.ts";
import { ATTRIBUTES, type CloudEvent, invalidEvent } from "./cloudevents.ts";

const TEXT_TYPE = /^text\/|^application\/(?:[^/]+\+)?xml$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns a binary mode message as an event: attributes from its headers, data from its body. Only the data is checked.
 *
 * @param contentType as received, "" if absent
 * @throws Fault invalid_event
 */
export function binaryEvent(
  attributes: Record<string, unknown>,
  contentType: string,
  body: Buffer,
): Record<string, unknown> {
  for (const name of ["data", "data_base64"]) {
    if (attributes[name] !== undefined) {
      throw invalidEvent(name, attributes[name], `${name} in the body, not in a header`);
    }
  }
  const event = { ...attributes, ...(contentType && { datacontenttype: contentType }) };
  return body.length ? { ...event, ...parseData(contentType, body) } : event;
}

/** The body as data: JSON parsed, text as a string, anything else as base64. */
function parseData(contentType: string, body: Buffer): Pick<CloudEvent, "data" | "data_base64"> {
  const type = mediaTypeOf(contentType);
  if (JSON_TYPE.test(type)) return { data: jsonData(body) };
  try {
    // SDKs omit the type of JSON. Other data without a type is kept as bytes.
    if (!type && OPENS_JSON.includes(body[0] as number)) return { data: jsonData(body) };
    if (TEXT_TYPE.test(type) && saysUtf8(contentType)) return { data: UTF8.decode(body) };
  } catch {
    // Not the declared type: kept as bytes.
  }
  return { data_base64: body.toString("base64") };
}

const OPENS_JSON = [..."{["].map((character) => character.charCodeAt(0));

function jsonData(body: Buffer): unknown {
  try {
    return parseJsonBytes(body, { exact: true });
  } catch (err) {
    if (isFault(err)) throw err;
    if (err instanceof NumberTooLarge) {
      const field = err.field ? `data.${err.field}` : "data";
      throw invalidEvent(field, null, "numbers within the range of a double (1.8e308)");
    }
    if (err instanceof RangeError) throw invalidEvent("data", null, `valid JSON (${err.message})`);
    const beginning = body.subarray(0, 100).toString("latin1");
    throw invalidEvent("data", beginning, "valid JSON, according to datacontenttype");
  }
}

function saysUtf8(contentType: string): boolean {
  return ["utf-8", "utf8", "us-ascii"].includes(charsetOf(contentType) ?? "utf-8");
}

/** Prefixes of attributes in a broker's message headers: of the AMQP binding and of RabbitMQ's. */
const PREFIX = /^(?:cloudevents[:_]|ce-)/;

/** A header of a broker's message, typed by its protocol. */
export type HeaderValue = string | number | boolean | Date | Uint8Array;

/**
 * Returns the attributes of a broker's message in binary mode, null for other messages. Header names are lower case.
 * Those that CloudEvents defines are texts; extensions keep their types in JSON: bytes as base64, times as RFC 3339.
 */
export function readAttributes(
  headers: Readonly<Record<string, HeaderValue | undefined>>,
): Record<string, unknown> | null {
  const attributes = Object.fromEntries(
    Object.entries(headers).flatMap(([header, value]) => {
      if (value === undefined || !PREFIX.test(header)) return [];
      const name = header.replace(PREFIX, "");
      return [[name, ATTRIBUTES.includes(name) ? toText(value) : toTyped(value)]];
    }),
  );
  if (attributes.specversion === undefined) return null;
  // A time may be an AMQP timestamp, in milliseconds.
  const { time } = attributes;
  if (typeof time === "string" && /^\d{1,14}$/.test(time))
    attributes.time = new Date(Number(time)).toISOString();
  return attributes;
}

function toText(value: HeaderValue): string {
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value);
}

/** Integers of CloudEvents have 32 bits; other numbers become text. */
function toTyped(value: HeaderValue): string | number | boolean {
  if (typeof value === "boolean") return value;
  return typeof value === "number" && value === (value | 0) ? value : toText(value);
}
