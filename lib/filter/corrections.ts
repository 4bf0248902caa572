import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { compareTexts } from "../text/code-points.ts";
import { charge } from "./cost.ts";
import { type CheckedNode, walk } from "./meter.ts";
import {
  isMoment,
  isSpan,
  nanosOf,
  parseMoment,
  parseSpan,
  partOf,
  TIME_PARTS,
  textOf,
  toMoment,
  toSpan,
} from "./time.ts";

// Corrections where cel-js differs from the CEL specification and cel-go. A correction gets the values of an operation
// and returns undefined where cel-js is right.

type Correction = (first: unknown, second: unknown, third: unknown) => unknown;
type Time = Parameters<typeof nanosOf>[0];

const TIMESTAMP = "google.protobuf.Timestamp";
const DURATION = "google.protobuf.Duration";
const LEAST_INT = -(2n ** 63n);
const MOST_INT = 2n ** 63n - 1n;
const TWO_TO_63 = 2 ** 63;

/** Adds operations missing from cel-js: conversions of times and of uint, and the order of bytes. */
export function extend(environment: Environment): void {
  const conversions: Record<string, (value: never) => unknown> = {
    [`int(${TIMESTAMP}): int`]: (at: Date) => BigInt(Math.floor(at.getTime() / 1000)),
    "int(uint): int": (value: { valueOf(): bigint }) => inRange(value.valueOf()),
    [`string(${TIMESTAMP}): string`]: textOf,
    [`string(${DURATION}): string`]: textOf,
    [`timestamp(${TIMESTAMP}): ${TIMESTAMP}`]: (value: Date) => value,
    [`duration(${DURATION}): ${DURATION}`]: (value: unknown) => value,
  };
  for (const [signature, handler] of Object.entries(conversions))
    environment.registerFunction({ signature, handler: handler as () => unknown, async: false });
  for (const [operator, holds] of Object.entries(ORDERS)) {
    const handler = (a: Uint8Array, b: Uint8Array) => holds(Buffer.compare(a, b));
    environment.registerOperator(`bytes ${operator} bytes: bool`, handler as () => unknown);
  }
}

/** Runs the corrections before the operations of a checked expression. */
export function correct(ast: ASTNode): void {
  for (const node of walk(ast as unknown as CheckedNode)) {
    const correction = correctionOf(node);
    const operation = node.handle;
    if (!correction || !operation) continue;
    node.handle = (first, second, third, fourth) => {
      const corrected = correction(first, second, third);
      return corrected === undefined ? operation(first, second, third, fourth) : corrected;
    };
  }
}

function correctionOf({ op, args }: CheckedNode): Correction | undefined {
  if (op !== "call" && op !== "rcall") return OPERATORS.get(op);
  const call = CALLS.get((args as [string])[0]);
  return call && ((values) => call(...(values as [unknown, unknown, unknown])));
}

const ORDERS: Record<string, (order: number) => boolean> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

/** Compares texts by code points and times to the nanosecond. */
function orderOf(a: unknown, b: unknown): number | undefined {
  if (typeof a === "string") return typeof b === "string" ? compareTexts(a, b) : undefined;
  if (typeof a !== "object" || !areSameTimes(a, b)) return undefined;
  const [left, right] = [nanosOf(a as Time), nanosOf(b as Time)];
  return left < right ? -1 : Number(left > right);
}

function areSameTimes(a: unknown, b: unknown): boolean {
  return (isMoment(a) && isMoment(b)) || (isSpan(a) && isSpan(b));
}

function isTime(value: unknown): value is Time {
  return isMoment(value) || isSpan(value);
}

const OPERATORS = new Map<string, Correction>([
  ...Object.entries(ORDERS).map(([operator, holds]): [string, Correction] => [
    operator,
    (a, b) => {
      const order = orderOf(a, b);
      return order === undefined ? undefined : holds(order);
    },
  ]),
  ["==", (a, b) => (isMoment(a) && isMoment(b) ? nanosOf(a) === nanosOf(b) : undefined)],
  ["!=", (a, b) => (isMoment(a) && isMoment(b) ? nanosOf(a) !== nanosOf(b) : undefined)],
  ["+", sumOf],
  ["-", differenceOf],
  ["/", quotient],
  ["%", quotient],
  ["-_", (value) => (typeof value === "bigint" ? inRange(-value) : undefined)],
]);

function sumOf(a: unknown, b: unknown): unknown {
  if (typeof a !== "object" || !isTime(a) || !isTime(b) || (isMoment(a) && isMoment(b))) return undefined;
  const sum = nanosOf(a) + nanosOf(b);
  return isSpan(a) && isSpan(b) ? toSpan(sum) : toMoment(sum);
}

function differenceOf(a: unknown, b: unknown): unknown {
  if (typeof a !== "object" || !isTime(a) || !isTime(b) || (isSpan(a) && isMoment(b))) return undefined;
  const difference = nanosOf(a) - nanosOf(b);
  return isMoment(a) && isSpan(b) ? toMoment(difference) : toSpan(difference);
}

/** Checks the only division of ints that overflows, and its remainder. */
function quotient(a: unknown, b: unknown): undefined {
  if (b === -1n && typeof a === "bigint") inRange(-a);
}

function inRange(value: bigint): bigint {
  if (value < LEAST_INT || value > MOST_INT) throw new RangeError(`integer overflow: ${value}`);
  return value;
}

const CALLS = new Map<string, Correction>([
  ["timestamp", (value) => (typeof value === "string" ? parseMoment(value) : undefined)],
  ["duration", (value) => (typeof value === "string" ? parseSpan(value) : undefined)],
  ["int", toInt],
  ["uint", toUint],
  ["double", toDouble],
  ["lowerAscii", (text) => caseOf(text, /[A-Z]+/g, (letters) => letters.toLowerCase())],
  ["upperAscii", (text) => caseOf(text, /[a-z]+/g, (letters) => letters.toUpperCase())],
  ["indexOf", (text, sought, from) => indexIn(text, sought, from, "indexOf")],
  ["lastIndexOf", (text, sought, from) => indexIn(text, sought, from, "lastIndexOf")],
  ["substring", substring],
  ...TIME_PARTS.map((name): [string, Correction] => [
    name,
    (at, zone) => {
      const isZone = zone === undefined || typeof zone === "string";
      return isMoment(at) && isZone ? partOf(name, at, zone as string | undefined) : undefined;
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

function caseOf(text: unknown, letters: RegExp, change: (letters: string) => string): string | undefined {
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
