import { JSON_TYPE, mediaTypeOf } from "../http/media-type.ts";
import { parseExact } from "../json/json.ts";
import { type CloudEvent, invalidEvent, isUri, isUriReference } from "./cloudevents.ts";

export interface HttpContent {
  headers: Record<string, string>;
  body: Buffer;
}

/** Servers refuse larger headers: Node above 16 KB, nginx and Apache above 8 KB. */
const MOST_HEADER_BYTES = 8192;

export function structuredContent(envelope: string): HttpContent {
  return { headers: { "Content-Type": "application/cloudevents+json" }, body: Buffer.from(envelope) };
}

/**
 * Converts an event, as JSON text, to the binary mode of the CloudEvents HTTP binding: attributes as headers, data as
 * body. Returns null if attributes are too long or not scalars, or the media type is not a valid header.
 */
export function toBinaryMode(envelope: string): HttpContent | null {
  const { data, data_base64, datacontenttype, ...attributes } = parseExact(envelope) as CloudEvent;
  const headers: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "object") return null;
    const text = encode(String(value));
    bytes += name.length + text.length;
    headers[`ce-${name}`] = text;
  }
  if (bytes > MOST_HEADER_BYTES) return null;
  const body = encodeBody(data, data_base64, datacontenttype);
  const type = datacontenttype ?? (data === undefined ? undefined : "application/json");
  if (type !== undefined) {
    if (!/^[\x20-\x7e]*$/.test(type)) return null;
    headers["Content-Type"] = type;
  }
  return { headers, body };
}

/** Text stays unencoded if its media type is not JSON. */
function encodeBody(data: unknown, base64: string | undefined, type = "application/json"): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  if (data === undefined) return Buffer.alloc(0);
  const isText = typeof data === "string" && !JSON_TYPE.test(mediaTypeOf(type));
  return Buffer.from(isText ? data : JSON.stringify(data));
}

/** Percent-encodes all but printable ASCII, and space, quote and percent (binding 3.1.3.2). */
function encode(text: string): string {
  return text.replace(/[^\x21-\x7e]+|["%]/g, encodeURIComponent);
}

/** Whether a request is in binary mode. Header names are lower case. */
export function isBinaryMode(headers: Readonly<Record<string, unknown>>): boolean {
  return headers["ce-specversion"] !== undefined || headers["ce-id"] !== undefined;
}

/** Returns a binary mode request's attributes, null in others. Headers are lower case. @throws Fault invalid_event */
export function attributesIn(
  headers: Readonly<Record<string, string | undefined>>,
): Record<string, string> | null {
  if (!isBinaryMode(headers)) return null;
  const attributes = Object.entries(headers).flatMap(([header, value]) =>
    header.startsWith("ce-") && value !== undefined
      ? [[header.slice(3), attribute(header.slice(3), value)] as const]
      : [],
  );
  return Object.fromEntries(attributes);
}

/**
 * Decodes a header's percent-encoding (HTTP binding 3.1.3.2). Some producers, such as the JavaScript SDK, send URIs
 * unencoded: if only the raw value is a URI, it is used.
 */
function attribute(name: string, raw: string): string {
  const value = decode(name, unquoted(raw));
  if (name === "source" && !isUriReference(value) && isUriReference(raw)) return raw;
  if (name === "dataschema" && !isUri(value) && isUri(raw)) return raw;
  return value;
}

function unquoted(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1).replace(/\\(.)/g, "$1")
    : value;
}

/** Escapes that are valid must be UTF-8; a `%` without two hexadecimal digits is itself. */
function decode(name: string, text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text.replace(/%(?![\dA-Fa-f]{2})/g, "%25"));
  } catch {
    throw invalidEvent(name, text, `percent-escapes of UTF-8 in the header ce-${name}`);
  }
}
