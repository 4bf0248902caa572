import { compareTexts } from "../text/code-points.ts";
import { charge } from "./cost.ts";
import {
  formatTime,
  isMoment,
  isSpan,
  parseMoment,
  parseSpan,
  readPart,
  TIME_PARTS,
  toMoment,
  toNanos,
  toSpan,
} from "./time.ts";

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
