import { isUtf8 } from "node:buffer";
import { parseJsonBytes, parseJsonText } from "../../../lib/json/json.ts";

/** A parsed body, or the parse error with the text. */
export type Read = { payload: unknown } | { error: string; text: string };

/** The media type of HTML forms. */
const FORM = /^application\/x-www-form-urlencoded\b/i;

/** Parses JSON or a form. */
export function readPayload(body: Buffer, type = ""): Read {
  return FORM.test(type) && isUtf8(body) ? { payload: formPayload(body.toString("utf8")) } : readJson(body);
}

export function readJson(body: Buffer): Read {
  if (!isUtf8(body)) return { error: "mapping error: the body is not UTF-8", text: body.toString("base64") };
  try {
    return { payload: parseJsonBytes(body) };
  } catch (err) {
    const error = `mapping error: the body is not valid JSON: ${(err as Error).message}`;
    return { error, text: body.toString("utf8") };
  }
}

/**
 * Parses a form for mappings: its fields by name, with a list for repeated ones. If its only field is `payload` and
 * holds JSON, returns that JSON: GitHub and Slack send it that way.
 */
function formPayload(text: string): unknown {
  const fields = Object.groupBy(new URLSearchParams(text), ([name]) => name);
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
    return parseJsonText(value);
  } catch {
    return undefined;
  }
}
