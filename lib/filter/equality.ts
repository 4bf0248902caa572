import type { EventScope } from "./filter.ts";

/** That a filter matches only events with a value at a path. */
export interface Equality {
  /** `data.order.id`: below `data` or `event`. */
  path: string;
  /** The value as `valueKey` gives it. */
  key: string;
}

const PATH = String.raw`(?<path>(?:data|event)(?:\.[A-Za-z_]\w*)+)`;
const LITERAL = String.raw`(?:(?<text>"[^"\\\n]*"|'[^'\\\n]*')|(?<number>-?\d{1,15})|(?<bool>true|false))`;
/** An equality, alone or as the first part of a conjunction. */
const EQUALITY = new RegExp(String.raw`^\s*${PATH}\s*==\s*${LITERAL}\s*(?:$|&&(?<rest>[^|?]*)$)`);

/**
 * Returns an equality that an expression requires; null if none is found. Reads the text only: compiling costs more than
 * looking a filter up saves. Without `||` and `?` in it, all that follows `&&` can only narrow the filter.
 */
export function equalityOf(expression: string): Equality | null {
  const { path, text, number, bool } = EQUALITY.exec(expression)?.groups ?? {};
  if (path === undefined) return null;
  if (text !== undefined) return { path, key: valueKey(text.slice(1, -1)) as string };
  return { path, key: valueKey(number === undefined ? bool === "true" : Number(number)) as string };
}

/** Returns the same text for values that are equal in CEL, such as an int and a double; null for what is no scalar. */
export function valueKey(value: unknown): string | null {
  if (typeof value === "string") return `s${value}`;
  if (typeof value === "boolean") return `b${value}`;
  if (typeof value === "bigint") return `n${value}`;
  // Of both zeros.
  return typeof value === "number" ? `n${value + 0}` : null;
}

/** Returns the value of an event at a path, as filters see it; undefined if it is missing. */
export function valueAt(scope: EventScope, path: string): unknown {
  const [first, ...names] = path.split(".") as ["data" | "event", ...string[]];
  let value = scope.root(first);
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
