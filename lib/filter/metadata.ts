export type MetadataValue = string | number | boolean;

/** Bounds of numbers, or of times in milliseconds. */
export type MetadataRange = { of: "number" | "time" } & Partial<Record<"gt" | "gte" | "lt" | "lte", number>>;

/** A condition on one key: it has one of some values, or one within a range. */
export type MetadataCondition = { key: string } & ({ in: MetadataValue[] } | MetadataRange);

/** Longer keys and texts cannot be filtered by. */
export const MOST_KEY = 64;
export const MOST_TEXT = 200;
/** Characters that an index keeps for each entry. */
const MOST_PACKED = 4000;
const END = "\n";
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i;

/**
 * Returns what filters see of metadata as one text, because an index holds that of all its entries: a line of key and
 * value, as JSON, for each text, number and boolean, and for each in a list. Single values come first, up to a limit.
 */
export function packMetadata(metadata: object): string {
  const all = Object.entries(metadata).filter(([key]) => [...key].length <= MOST_KEY);
  const [lists, single] = [
    all.filter(([, value]) => Array.isArray(value)),
    all.filter(([, value]) => isValue(value)),
  ];
  const lines = new Set<string>();
  let size = END.length;
  for (const [key, values] of [...single, ...lists])
    for (const value of [values].flat()) {
      const line = isValue(value) ? lineOf(key, value) : "";
      if (line === "" || lines.has(line) || size + line.length + END.length > MOST_PACKED) continue;
      lines.add(line);
      size += line.length + END.length;
    }
  return lines.size === 0 ? "" : `${END}${[...lines].join(END)}${END}`;
}

function isValue(value: unknown): value is MetadataValue {
  if (typeof value === "string") return value.length <= 2 * MOST_TEXT && [...value].length <= MOST_TEXT;
  return typeof value === "number" || typeof value === "boolean";
}

export function lineOf(key: string, value: MetadataValue): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

const LINE = /^("(?:[^"\\]|\\.)*"):(.*)$/s;

/** Yields each line of packed metadata, with its key and value. */
export function* unpackMetadata(packed: string) {
  for (const line of packed.split(END)) {
    const [, key, value] = LINE.exec(line) ?? [];
    if (key && value)
      yield { line, key: JSON.parse(key) as string, value: JSON.parse(value) as MetadataValue };
  }
}

/** Returns what a value is within a range: a number, or the time that a text says; null if it is neither. */
export function comparable(value: MetadataValue): { of: MetadataRange["of"]; at: number } | null {
  if (typeof value === "number") return { of: "number", at: value };
  const at = typeof value === "string" && TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : { of: "time", at };
}

export function metadataCheck(conditions: readonly MetadataCondition[]): (packed: string) => boolean {
  const checks = conditions.map(toCheck);
  return (packed) => checks.every((fits) => fits(packed));
}

function toCheck({ key, ...condition }: MetadataCondition): (packed: string) => boolean {
  const start = `${END}${JSON.stringify(key)}:`;
  const accepts = "in" in condition ? isOneOf(condition.in) : isWithin(condition);
  return (packed) => {
    for (let at = packed.indexOf(start); at >= 0; at = packed.indexOf(start, at + 1)) {
      const from = at + start.length;
      if (accepts(packed.slice(from, packed.indexOf(END, from)))) return true;
    }
    return false;
  };
}

function isOneOf(values: readonly MetadataValue[]): (json: string) => boolean {
  const wanted = new Set(values.map((value) => JSON.stringify(value)));
  return (json) => wanted.has(json);
}

function isWithin({ of, gt, gte, lt, lte }: MetadataRange): (json: string) => boolean {
  const least = Math.max(gte ?? -Infinity, gt ?? -Infinity);
  const most = Math.min(lte ?? Infinity, lt ?? Infinity);
  return (json) => {
    const value = comparable(JSON.parse(json) as MetadataValue);
    if (value?.of !== of) return false;
    return value.at >= least && value.at <= most && value.at !== gt && value.at !== lt;
  };
}
