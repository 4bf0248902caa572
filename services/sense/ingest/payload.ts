import { isUtf8 } from "node:buffer";
import { charsetOf, mediaTypeOf } from "../../../lib/http/media-type.ts";
import { parseJsonBytes, parseJsonText, unreadableJson } from "../../../lib/json/json.ts";

/** A parsed body, or the parse error with the text. */
export type Read = { payload: unknown } | { error: string; text: string };

/** The media type of HTML forms. */
const FORM = "application/x-www-form-urlencoded";

/** Parses JSON or a form, in the charset that the media type names. */
export function readPayload(body: Buffer, type = ""): Read {
  const charset = charsetOf(type) ?? "utf-8";
  if (!isKnown(charset))
    return unread(`the charset ${JSON.stringify(charset.slice(0, 40))} is not known`, body);
  if (mediaTypeOf(type) === FORM) return readForm(body, charset);
  // Many senders of UTF-8 name another charset; UTF-16 can look like UTF-8 with zeros.
  return readJson(isUtf8(body) && !body.includes(0) ? body : inUtf8(body, charset));
}

export function readJson(body: Buffer): Read {
  if (!isUtf8(body)) return unread("the body is not UTF-8", body);
  try {
    return { payload: parseJsonBytes(body, { exact: true }) };
  } catch (err) {
    const error = `mapping error: ${unreadableJson("body", err)}`;
    return { error, text: body.toString("utf8") };
  }
}

function unread(why: string, body: Buffer): Read {
  const text = body.toString(isUtf8(body) ? "utf8" : "base64");
  return { error: `mapping error: ${why}`, text };
}

function isKnown(charset: string): boolean {
  try {
    return new TextDecoder(charset) !== null;
  } catch {
    return false;
  }
}

/** @returns the bytes themselves if they are not in the charset */
function inUtf8(body: Buffer, charset: string): Buffer {
  try {
    return Buffer.from(new TextDecoder(charset, { fatal: true }).decode(body));
  } catch {
    return body;
  }
}

/** Reads a form, whose escapes are bytes in its charset. */
function readForm(body: Buffer, charset: string): Read {
  const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
  const decode = (text: string) => decoder.decode(unescaped(text));
  try {
    const pairs = body
      .toString("latin1")
      .split("&")
      .filter((pair) => pair !== "")
      .map((pair): [string, string] => {
        const [name = "", ...value] = pair.split("=");
        return [decode(name), decode(value.join("="))];
      });
    return { payload: formPayload(pairs) };
  } catch {
    const why = `the form is not in ${charset}: name its charset in Content-Type, such as ${FORM}; charset=windows-1252`;
    return unread(why, body);
  }
}

/** Returns the bytes of an escaped text, one for each character. */
function unescaped(text: string): Buffer {
  const bytes = text
    .replaceAll("+", " ")
    .replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}

/**
 * Returns a form for mappings: its fields by name, with a list for repeated ones. If its only field is `payload` and
 * holds JSON, returns that JSON: GitHub and Slack send it that way.
 */
function formPayload(all: [name: string, value: string][]): unknown {
  const fields = Object.groupBy(all, ([name]) => name);
  const entries = Object.entries(fields).map(([name, pairs = []]) => {
    const values = pairs.map(([, value]) => value);
    return [name, values.length === 1 ? values[0] : values] as const;
  });
  const [only] = entries;
  const wrapped = entries.length === 1 && only?.[0] === "payload" ? jsonIn(only[1]) : undefined;
  return wrapped ?? Object.fromEntries(entries);
}

function jsonIn(value: unknown): unknown {
  if (typeof value !== "string") return undefined;
  try {
    return parseJsonText(value, true);
  } catch {
    return undefined;
  }
}
