import { parseJsonText } from "../../../lib/json/json.ts";

/** The media type of HTML forms. */
export const FORM = /^application\/x-www-form-urlencoded\b/i;

/**
 * Parses a form for mappings: its fields by name, with a list for repeated ones. If its only field is `payload` and
 * holds JSON, returns that JSON: GitHub and Slack send it that way.
 */
export function formPayload(text: string): unknown {
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
