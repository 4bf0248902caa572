import { Duration } from "@marcbachmann/cel-js/evaluator";
import { compareTexts } from "../text/code-points.ts";
import { DAY_MS, hasRealDay } from "../time.ts";
import { charge } from "./cost.ts";

/** The part of a timestamp below a millisecond. A property, because cel-js recognises timestamps by their constructor. */
const FINER = Symbol("nanoseconds beyond the millisecond");
type Moment = Date & { [FINER]?: number };

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
const FIRST = BigInt(Date.parse("0001-01-01T00:00:00Z"));
const LAST = BigInt(Date.parse("9999-12-31T23:59:59.999Z"));
/** The maximum of a protobuf Duration, some 10,000 years. */
const MOST_SECONDS = 315_576_000_000n;

const TIME =
  /^(\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9})\d*)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isMoment(value: unknown): value is Moment {
  return value instanceof Date;
}

function isSpan(value: unknown): value is Duration {
  return value instanceof Duration;
}

/** Bigint arithmetic takes some hundred nanoseconds an operation. */
const PRICE = 5;
const PARSE_PRICE = 40;

/** Returns a timestamp as nanoseconds since the epoch, or a duration as nanoseconds. */
function toNanos(value: Moment | Duration): bigint {
  charge(PRICE);
  if (isMoment(value)) return BigInt(value.getTime()) * MILLISECOND + BigInt(value[FINER] ?? 0);
  return value.seconds * SECOND + BigInt(value.nanos);
}

/** @throws RangeError outside the years 1 to 9999 */
function toMoment(nanos: bigint): Moment {
  const finer = ((nanos % MILLISECOND) + MILLISECOND) % MILLISECOND;
  const ms = (nanos - finer) / MILLISECOND;
  if (ms < FIRST || ms > LAST) throw new RangeError("a timestamp must be in the years 1 to 9999");
  return Object.assign(new Date(Number(ms)), { [FINER]: Number(finer) });
}

/** @throws RangeError beyond 10,000 years */
function toSpan(nanos: bigint): Duration {
  const seconds = nanos / SECOND;
  if (seconds > MOST_SECONDS || seconds < -MOST_SECONDS)
    throw new RangeError("a duration has at most 315,576,000,000 seconds");
  return new Duration(seconds, Number(nanos % SECOND));
}

/** Parses RFC 3339, refusing nonexistent days. @throws RangeError */
function parseMoment(text: string): Moment {
  charge(PARSE_PRICE);
  const [, local, fraction = "", offset] = TIME.exec(text.slice(0, 100)) ?? [];
  if (local && hasRealDay(local)) {
    const ms = BigInt(Date.parse(`${local}${offset}`));
    return toMoment(ms * MILLISECOND + BigInt(fraction.padEnd(9, "0")));
  }
  throw new RangeError("timestamp() expects a date and time (RFC 3339), like 2026-01-31T09:30:00Z");
}

const UNITS: Record<string, bigint> = {
  ...{ h: 3600n * SECOND, m: 60n * SECOND, s: SECOND, ms: MILLISECOND },
  ...{ us: 1000n, µs: 1000n, μs: 1000n, ns: 1n },
};
const LONGEST = 100;
const SPAN = /^([+-]?)(0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const PART = /(\d*)\.?(\d*)([a-zµμ]+)/g;

/** Parses a duration in Go's form: `1h30m`, `-1.5s`. @throws RangeError */
function parseSpan(text: string): Duration {
  charge(PARSE_PRICE);
  const [, sign, parts] = SPAN.exec(text.length > LONGEST ? "" : text) ?? [];
  if (!parts) throw new RangeError("duration() expects numbers with units, like 1h30m or -1.5s");
  let nanos = 0n;
  for (const [, whole, fraction = "", unit] of parts.matchAll(PART)) {
    const size = UNITS[unit as string] as bigint;
    nanos += BigInt(whole as string) * size + (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  return toSpan(sign === "-" ? -nanos : nanos);
}

/** Formats a timestamp as RFC 3339, a duration as seconds, with the necessary decimals. */
function formatTime(value: Moment | Duration): string {
  const nanos = toNanos(value);
  const size = nanos < 0n && isSpan(value) ? -nanos : nanos;
  const beyond = ((size % SECOND) + SECOND) % SECOND;
  const fraction = beyond ? `.${String(beyond).padStart(9, "0").replace(/0+$/, "")}` : "";
  if (isMoment(value)) return `${value.toISOString().slice(0, 19)}${fraction}Z`;
  return `${nanos < 0n ? "-" : ""}${size / SECOND}${fraction}s`;
}

/** Applied to a time shifted into its zone. */
const GETTERS: Record<string, (at: Date) => number> = {
  getDate: (at) => at.getUTCDate(),
  getDayOfMonth: (at) => at.getUTCDate() - 1,
  getDayOfWeek: (at) => at.getUTCDay(),
  getDayOfYear: (at) => Math.floor((at.getTime() - new Date(at).setUTCMonth(0, 1)) / DAY_MS),
  getFullYear: (at) => at.getUTCFullYear(),
  getHours: (at) => at.getUTCHours(),
  getMilliseconds: (at) => at.getUTCMilliseconds(),
  getMinutes: (at) => at.getUTCMinutes(),
  getMonth: (at) => at.getUTCMonth(),
  getSeconds: (at) => at.getUTCSeconds(),
};
const TIME_PARTS = Object.keys(GETTERS);

/** Returns a part of a timestamp, independent of this machine's time zone. @throws RangeError for an unknown zone */
function readPart(name: string, moment: Moment, zone: string | undefined): bigint {
  const at = zone === undefined ? moment : shifted(moment, zone);
  return BigInt((GETTERS[name] as (at: Date) => number)(at));
}

const OFFSET = /^([+-]?)([01]?\d|2[0-3]):([0-5]\d)$/;

/** Returns a time whose parts in UTC are those of the moment in the zone. */
function shifted(moment: Date, zone: string): Date {
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (hours) {
    const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(moment.getTime() + (sign === "-" ? -ms : ms));
  }
  // Sweden writes `2026-01-31 09:30:00`; the form with a sign takes years of more and fewer than four digits.
  const local = moment.toLocaleString("sv-SE", { timeZone: zone }).replace(" ", "T").padStart(21, "0");
  return new Date(Date.parse(`+${local}Z`) + moment.getUTCMilliseconds());
}

// Where cel-js lacks operations, or differs from the CEL specification and cel-go.

/** Gets the values of an operation; returns undefined where cel-js is right. */
type Correction = (first: unknown, second: unknown, third: unknown) => unknown;
type Time = Parameters<typeof toNanos>[0];

const TIMESTAMP = "google.protobuf.Timestamp";
const DURATION = "google.protobuf.Duration";
const LEAST_INT = -(2n ** 63n);
const MOST_INT = 2n ** 63n - 1n;
const TWO_TO_63 = 2 ** 63;

const ORDERS: Record<string, (order: number) => boolean> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

const ARITHMETIC: Record<string, (left: number, right: number) => number> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
};

/** Functions missing from cel-js, by signature: conversions of times and of uint. */
export const ADDED_FUNCTIONS: Record<string, (value: never) => unknown> = {
  [`int(${TIMESTAMP}): int`]: (at: Date) => BigInt(Math.floor(at.getTime() / 1000)),
  "int(uint): int": (value: { valueOf(): bigint }) => inRange(value.valueOf()),
  [`string(${TIMESTAMP}): string`]: formatTime,
  [`string(${DURATION}): string`]: formatTime,
  [`timestamp(${TIMESTAMP}): ${TIMESTAMP}`]: (value) => value,
  [`duration(${DURATION}): ${DURATION}`]: (value) => value,
};

/**
 * Operators missing from cel-js, by signature: the order of bytes; and arithmetic of an int with a double, and `%` of
 * doubles, which CEL does not have. Numbers of JSON are doubles, so `data.n * 2 > 10` and `data.n % 2 == 0` would
 * silently never match.
 */
export const ADDED_OPERATORS: Record<string, (left: never, right: never) => unknown> = {
  ...Object.fromEntries(
    Object.entries(ORDERS).map(([operator, holds]) => [
      `bytes ${operator} bytes: bool`,
      (a: Uint8Array, b: Uint8Array) => holds(Buffer.compare(a, b)),
    ]),
  ),
  ...Object.fromEntries(
    [
      "double % double",
      ...Object.keys(ARITHMETIC).flatMap((o) => [`double ${o} int`, `int ${o} double`]),
    ].map((operation) => {
      const apply = ARITHMETIC[operation.split(" ")[1] as string] as (typeof ARITHMETIC)[string];
      return [`${operation}: double`, (a: unknown, b: unknown) => apply(Number(a), Number(b))];
    }),
  ),
};

/** Compares texts by code points and times to the nanosecond. */
function compare(a: unknown, b: unknown): number | undefined {
  if (typeof a === "string") return typeof b === "string" ? compareTexts(a, b) : undefined;
  if (!(isMoment(a) && isMoment(b)) && !(isSpan(a) && isSpan(b))) return undefined;
  const [left, right] = [toNanos(a), toNanos(b)];
  return left < right ? -1 : Number(left > right);
}

const ordered = ([operator, holds]: [string, (order: number) => boolean]): [string, Correction] => [
  operator,
  (a, b) => {
    const order = compare(a, b);
    return order === undefined ? undefined : holds(order);
  },
];

export const OPERATOR_CORRECTIONS = new Map<string, Correction>([
  ...Object.entries(ORDERS).map(ordered),
  ["==", (a, b) => (isMoment(a) && isMoment(b) ? toNanos(a) === toNanos(b) : undefined)],
  ["!=", (a, b) => (isMoment(a) && isMoment(b) ? toNanos(a) !== toNanos(b) : undefined)],
  [
    "+",
    (a, b) => {
      if (!isTime(a) || !isTime(b) || (isMoment(a) && isMoment(b))) return undefined;
      const sum = toNanos(a) + toNanos(b);
      return isSpan(a) && isSpan(b) ? toSpan(sum) : toMoment(sum);
    },
  ],
  [
    "-",
    (a, b) => {
      if (!isTime(a) || !isTime(b) || (isSpan(a) && isMoment(b))) return undefined;
      const difference = toNanos(a) - toNanos(b);
      return isMoment(a) && isSpan(b) ? toMoment(difference) : toSpan(difference);
    },
  ],
  ["/", quotient],
  ["%", quotient],
  ["-_", (value) => (typeof value === "bigint" ? inRange(-value) : undefined)],
]);

function isTime(value: unknown): value is Time {
  return typeof value === "object" && (isMoment(value) || isSpan(value));
}

/** Checks the only division of ints that overflows, and its remainder. */
function quotient(a: unknown, b: unknown): undefined {
  if (b === -1n && typeof a === "bigint") inRange(-a);
}

function inRange(value: bigint): bigint {
  if (value < LEAST_INT || value > MOST_INT) throw new RangeError(`integer overflow: ${value}`);
  return value;
}

export const FUNCTION_CORRECTIONS = new Map<string, Correction>([
  ["timestamp", (value) => (typeof value === "string" ? parseMoment(value) : undefined)],
  ["duration", (value) => (typeof value === "string" ? parseSpan(value) : undefined)],
  ["int", toInt],
  ["uint", toUint],
  ["double", toDouble],
  ["lowerAscii", (text) => changeCase(text, /[A-Z]+/g, (letters) => letters.toLowerCase())],
  ["upperAscii", (text) => changeCase(text, /[a-z]+/g, (letters) => letters.toUpperCase())],
  ["indexOf", (text, sought, from) => indexIn(text, sought, from, "indexOf")],
  ["lastIndexOf", (text, sought, from) => indexIn(text, sought, from, "lastIndexOf")],
  ["substring", substring],
  ...TIME_PARTS.map((name): [string, Correction] => [
    name,
    (at, zone) => {
      const isZone = zone === undefined || typeof zone === "string";
      return isMoment(at) && isZone ? readPart(name, at, zone) : undefined;
    },
  ]),
]);

function toInt(value: unknown): undefined {
  if (typeof value === "number" && Math.abs(value) >= TWO_TO_63)
    throw new RangeError("int() type error: integer overflow");
  if (typeof value === "string") requireDigits(value, /^[+-]?\d+$/, "int");
}

function toUint(value: unknown): undefined {
  if (typeof value === "number" && value < 0) throw new RangeError("uint() type error: integer overflow");
  if (typeof value === "string") requireDigits(value, /^\d+$/, "uint");
}

const DOUBLE = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const NOT_FINITE = /^[+-]?(?:inf|infinity|nan)$/i;

function toDouble(value: unknown): undefined {
  if (typeof value !== "string" || NOT_FINITE.test(value)) return;
  requireDigits(value, DOUBLE, "double");
  if (!Number.isFinite(Number(value))) throw new RangeError("double() type error: out of range");
}

function requireDigits(text: string, form: RegExp, type: string): void {
  if (!form.test(text)) throw new RangeError(`${type}() type error: cannot convert to ${type}`);
}

function changeCase(text: unknown, letters: RegExp, change: (letters: string) => string): string | undefined {
  if (typeof text !== "string") return undefined;
  if (/^\p{ASCII}*$/u.test(text)) return change(text);
  charge(text.length / 4);
  return text.replace(letters, change);
}

/** Whether a text has characters of two UTF-16 units, which cel-js counts twice. Charges for splitting it. */
function isWide(text: unknown): text is string {
  if (typeof text !== "string" || !/[\ud800-\udfff]/.test(text)) return false;
  charge(text.length / 4);
  return true;
}

function indexIn(text: unknown, sought: unknown, from: unknown, how: "indexOf" | "lastIndexOf"): unknown {
  if (!isWide(text) || typeof sought !== "string" || sought === "") return undefined;
  if (from === undefined) return countedTo(text, text[how](sought));
  return countedTo(text, text[how](sought, unitsBefore([...text], from)));
}

function substring(text: unknown, start: unknown, end: unknown): unknown {
  if (!isWide(text)) return undefined;
  const characters = [...text];
  const to = end === undefined ? text.length : unitsBefore(characters, end);
  const from = unitsBefore(characters, start);
  if (to < from) throw new RangeError("substring(): the end is before the start");
  return text.slice(from, to);
}

/** Returns the number of UTF-16 units before a character. @throws RangeError if the text has fewer characters */
function unitsBefore(characters: string[], index: unknown): number {
  const count = Number(index);
  if (!(count >= 0 && count <= characters.length)) throw new RangeError("index out of range");
  return characters.slice(0, count).join("").length;
}

function countedTo(text: string, unit: number): bigint {
  return BigInt(unit < 0 ? -1 : [...text.slice(0, unit)].length);
}
