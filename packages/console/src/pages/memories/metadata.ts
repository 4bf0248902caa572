/** A filter of metadata as operations take it: a value, or bounds, for each key. */
type MetadataFilter = Record<string, Value | Bounds>;
type Value = string | number | boolean;
type Bounds = Partial<Record<Bound, string | number>> & { in?: Value[] };
type Bound = keyof typeof BOUNDS;

const BOUNDS = { gte: ">=", lte: "<=", gt: ">", lt: "<" } as const;
const BY_SIGN = new Map(Object.entries(BOUNDS).map(([bound, sign]) => [sign as string, bound as Bound]));

/** One condition of a filter, as the person sees and removes it. */
export interface Condition {
  key: string;
  /** Null for the key's value or values. */
  bound: Bound | null;
  text: string;
}

/** Reads the filter from the address; what is none is ignored. */
export function metadataIn(text: string): MetadataFilter {
  try {
    const filter: unknown = JSON.parse(text || "{}");
    return filter && typeof filter === "object" && !Array.isArray(filter) ? (filter as MetadataFilter) : {};
  } catch {
    return {};
  }
}

/** Writes a filter into the address: empty without conditions. */
export const toAddress = (filter: MetadataFilter) =>
  Object.keys(filter).length > 0 ? JSON.stringify(filter) : "";

/**
 * Adds a condition such as `amount >= 100`, `customer = acme` or `state = open, late`: texts in quotes stay texts.
 * Returns null if it is none.
 */
export function withCondition(filter: MetadataFilter, text: string): MetadataFilter | null {
  const [, key = "", sign = "", given = ""] = /^\s*(.+?)\s*(>=|<=|=|>|<)\s*(.+?)\s*$/s.exec(text) ?? [];
  if (!key || /[.$]/.test(key)) return null;
  const bound = BY_SIGN.get(sign);
  if (!bound) {
    const values = split(given).map(toValue);
    return { ...filter, [key]: values.length === 1 ? (values[0] as Value) : { in: values } };
  }
  const value = toValue(given);
  const isBound = typeof value === "number" || (typeof value === "string" && DATE.test(value));
  if (!isBound) return null;
  const known = filter[key];
  const { in: _, ...bounds } = typeof known === "object" ? known : {};
  return { ...filter, [key]: { ...bounds, [bound]: value } };
}

/** Removes one of the filter's conditions. */
export function withoutCondition(filter: MetadataFilter, { key, bound }: Condition): MetadataFilter {
  const { [key]: of, ...others } = filter;
  if (bound === null || typeof of !== "object") return others;
  const { [bound]: _, ...bounds } = of;
  return Object.keys(bounds).length > 0 ? { ...filter, [key]: bounds } : others;
}

export function conditionsOf(filter: MetadataFilter): Condition[] {
  return Object.entries(filter).flatMap(([key, of]) => {
    if (typeof of !== "object") return { key, bound: null, text: `${key} = ${show(of)}` };
    return Object.entries(of).map(([name, value]) => {
      const shown = [value as Value | Value[]].flat().map(show).join(", ");
      if (name === "in") return { key, bound: null, text: `${key} = ${shown}` };
      return { key, bound: name as Bound, text: `${key} ${BOUNDS[name as Bound] ?? name} ${shown}` };
    });
  });
}

/** A date, or a date and time. */
const DATE = /^\d{4}-\d\d-\d\d(T.+)?$/;

const split = (text: string) => text.match(/"(?:[^"\\]|\\.)*"|[^,\s](?:[^,]*[^,\s])?/g) ?? [];

function toValue(text: string): Value {
  try {
    const value: unknown = JSON.parse(text);
    if (["string", "number", "boolean"].includes(typeof value)) return value as Value;
  } catch {
    // A text without quotes.
  }
  return text;
}

/** Formats a value so that reading it again gives the same. */
const show = (value: Value) =>
  typeof value !== "string" || (toValue(value) === value && split(value)[0] === value)
    ? String(value)
    : JSON.stringify(value);
