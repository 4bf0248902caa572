import { isUtf8 } from "node:buffer";
import { Fault } from "../contract/faults.ts";

/** Maximum nesting of JSON: code that serialises, compares or walks it recurses. */
export const MAX_JSON_DEPTH = 1000;

/** JSON of fewer bytes is parsed without counting its values. */
export const UNCOUNTED_BYTES = 32_768;

/**
 * Maximum values in JSON of more than `UNCOUNTED_BYTES`. Parsing time depends on values, not bytes: a megabyte of empty
 * lists takes 40 times as long as a megabyte of text.
 */
export const MAX_JSON_VALUES = 100_000;

/** A number too large for a double. `JSON.parse` returns infinity, which `JSON.stringify` writes as null. */
export class NumberTooLarge extends RangeError {
  /** Its path in the JSON, as `a.0.b`. */
  readonly field: string;

  constructor(field: string) {
    const shown = field.slice(0, SHOWN_CHARACTERS).toWellFormed();
    super(`it contains a number beyond the range of a double (1.8e308)${shown && ` at ${shown}`}`);
    this.field = shown;
  }
}

/** JSON that was not parsed, because it has too many values. */
class TooManyValues extends Fault {
  constructor() {
    const message = `The JSON has more than ${MAX_JSON_VALUES} values: send it in parts, or as text or base64.`;
    super("payload_too_large", message, { max_values: MAX_JSON_VALUES });
  }
}

const SHOWN_CHARACTERS = 200;

// TypeScript's libraries omit them.
interface ExactJson {
  rawJSON(text: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source: string }) => unknown,
  ): unknown;
}
const Exact = JSON as unknown as ExactJson;

/** An integer in JSON, not in a string, that a double may not hold. */
const LONG_INTEGER = /(?:^|[:,[\s])-?\d{16,}\s*(?:[,}\]]|$)/;

/** Whether JSON text contains an integer that `JSON.parse` may round. */
export function hasLongIntegers(text: string): boolean {
  return LONG_INTEGER.test(text);
}

/** Parses JSON text like `JSON.parse`, but keeps integers that a double cannot hold: `JSON.stringify` writes all digits. */
// biome-ignore lint/suspicious/noExplicitAny: as `JSON.parse`
export function parseExact(text: string): any {
  return hasLongIntegers(text) ? reviveIntegers(text, Exact.rawJSON) : JSON.parse(text);
}

/** Returns JSON from which `parseExact` tells kept integers and doubles as large apart: these have an exponent. */
export function stringifyExact(value: unknown): string {
  const text = JSON.stringify(value);
  return hasLongIntegers(text) ? JSON.stringify(value, withExponent) : text;
}

function withExponent(_: string, value: unknown): unknown {
  const isLarge = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLarge ? Exact.rawJSON(value.toExponential()) : value;
}

/** Parses JSON text, with integers that a double cannot hold by `make`. */
function reviveIntegers(text: string, make: (digits: string) => unknown): unknown {
  return Exact.parse(text, (_, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? make(source)
      : value,
  );
}

/** Returns the digits of an integer that `parseExact` kept; null for any other value. */
export function exactDigits(value: unknown): string | null {
  return Exact.isRawJSON(value) ? value.rawJSON : null;
}

/**
 * Parses JSON text.
 *
 * @param exact whether integers that a double cannot hold are kept, as by `parseExact`, or rounded
 * @throws SyntaxError if invalid, RangeError if nested too deep, NumberTooLarge
 */
export function parseJsonText(text: string, exact = false): unknown {
  const value: unknown = JSON.parse(text);
  const field = placeIn(value, isInfinite, MAX_JSON_DEPTH);
  if (field !== null) throw new NumberTooLarge(field);
  return exact && hasLongIntegers(text) ? reviveIntegers(text, Exact.rawJSON) : value;
}

function isInfinite(value: unknown): boolean {
  return typeof value === "number" && !Number.isFinite(value);
}

/** Written by some editors and shells before UTF-8 text. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Parses JSON bytes like `parseJsonText`, with or without a byte order mark (RFC 8259, 8.1).
 *
 * @param exact whether long integers keep their digits, as an object that only `JSON.stringify` knows
 * @throws Fault payload_too_large for too many values; another Error with the reason, never quoting the bytes
 */
export function parseJsonBytes(bytes: Buffer, { exact = false }: { exact?: boolean } = {}): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError("it is not UTF-8");
  if (bytes.length > UNCOUNTED_BYTES && countValues(bytes) > MAX_JSON_VALUES) throw new TooManyValues();
  const text = bytes.toString("utf8");
  try {
    return parseJsonText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, exact);
  } catch (err) {
    if (err instanceof RangeError) throw err;
    // Removes V8's quotation of the text, which may contain a secret.
    throw new SyntaxError((err as Error).message.replace(/, (?:\.{3})?".*$/s, ""));
  }
}

/** Returns why JSON was not read: it is invalid, or it may be valid and is over a limit. */
export function unreadableJson(what: string, err: unknown): string {
  const { message } = err as Error;
  const isLimit = err instanceof TooManyValues;
  return `the ${what} ${isLimit ? "is over the limit for JSON" : "is not valid JSON"}: ${message}`;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** The bit in which `{` differs from `[`. */
const BRACE = 0x20;
const OPENING = 0x7b;

/** Counts the values in JSON without parsing, up to `most`: each but the first follows a comma or an opening bracket. */
export function countValues(json: Buffer, most = MAX_JSON_VALUES): number {
  let values = 1;
  for (let at = 0; at < json.length && values <= most; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if (byte === COMMA || (byte | BRACE) === OPENING) values++;
  }
  return values;
}

/** Returns the position of the quotation mark that ends a string, the end of the JSON if missing. */
function endOfText(json: Buffer, from: number): number {
  const quote = json.indexOf(QUOTE, from);
  if (quote < 0) return json.length;
  if (json[quote - 1] !== BACKSLASH) return quote;
  // Byte by byte from here: an `indexOf` for each of many escaped quotes would be slow.
  for (let at = from; at < json.length; at++) {
    if (json[at] === BACKSLASH) at++;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}

/** Returns the path (`a.0.b`) of a lone UTF-16 surrogate, which the stores' UTF-8 cannot represent; null if none. */
export function halfCharacterOf(value: unknown): string | null {
  return placeIn(value, isHalf);
}

function isHalf(value: unknown): boolean {
  return typeof value === "string" && !value.isWellFormed();
}

/** Returns the path of the first value or key that matches; null if none. @throws RangeError if nested beyond `levels` */
function placeIn(
  value: unknown,
  isSuch: (value: unknown) => boolean,
  levels = Number.POSITIVE_INFINITY,
): string | null {
  if (typeof value !== "object" || value === null) return isSuch(value) ? "" : null;
  if (levels === 0) throw new RangeError(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  // Every body is searched: this takes half the time of `Object.entries`.
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const place = placeIn(value[at], isSuch, levels - 1);
      if (place !== null) return place ? `${at}.${place}` : `${at}`;
    }
    return null;
  }
  for (const key in value) {
    if (isSuch(key)) return "";
    const place = placeIn((value as Record<string, unknown>)[key], isSuch, levels - 1);
    if (place !== null) return place ? `${key}.${place}` : key;
  }
  return null;
}

/** A JSON Pointer (RFC 6901) as a list of keys. */
type JsonPointer = readonly string[];

/** Parses a pointer that begins with `/`; returns null if it is invalid. */
export function parsePointer(text: string): JsonPointer | null {
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return null;
  return text
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/** Returns the value at a pointer, undefined if missing. */
export function resolvePointer(value: unknown, pointer: JsonPointer): unknown {
  let at = value;
  for (const key of pointer) {
    if (typeof at !== "object" || at === null) return undefined;
    if (Array.isArray(at) ? !INDEX.test(key) : !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
