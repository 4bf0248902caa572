import { isUtf8 } from "node:buffer";
import { countValues, MAX_JSON_VALUES, UNCOUNTED_BYTES } from "./json-values.ts";

/** How deep JSON may be nested: what serializes, compares or walks it later has a stack that ends. */
export const MAX_JSON_DEPTH = 1000;

/** A number that no double can hold. `JSON.parse` makes infinity of it, and `JSON.stringify` would make null of that. */
export class NumberTooLarge extends RangeError {
  /** Where in the JSON it stands, as `a.0.b`. */
  readonly field: string;

  constructor(field: string) {
    const shown = field.slice(0, SHOWN_CHARACTERS).toWellFormed();
    super(`it has a number beyond those of a double (1.8e308)${shown && ` at ${shown}`}`);
    this.field = shown;
  }
}

const SHOWN_CHARACTERS = 200;

/**
 * The value of JSON text.
 *
 * @throws SyntaxError when it is none, RangeError when it is nested too deep, NumberTooLarge
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Each level takes an opening and a closing character, so that most bodies are too short to be too deep.
  if (text.length > 2 * MAX_JSON_DEPTH && isDeeper(value, MAX_JSON_DEPTH)) {
    throw new RangeError(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  if (LARGE_EXPONENT.test(text) || hasLongDigits(text)) {
    const field = placeIn(value, isInfinite, "");
    if (field !== null) throw new NumberTooLarge(field);
  }
  return value;
}

/** Without one a number needs more than 200 digits to be too large. */
const LARGE_EXPONENT = /\d[eE]\+?\d\d\d/;
const MANY_DIGITS = 200;

/** Whether so many digits may follow each other: of those that do, one stands at every so many characters. */
function hasLongDigits(text: string): boolean {
  for (let at = MANY_DIGITS - 1; at < text.length; at += MANY_DIGITS) {
    let [first, last] = [at, at];
    while (isDigit(text, first)) first--;
    while (last - first <= MANY_DIGITS && isDigit(text, last)) last++;
    if (last - first > MANY_DIGITS) return true;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

function isInfinite(value: unknown): boolean {
  return typeof value === "number" && !Number.isFinite(value);
}

/** What some editors and shells put before a text in UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * As `parseJsonText`, of bytes, behind a byte order mark or not (RFC 8259, 8.1).
 *
 * @param maxValues most values that more than `UNCOUNTED_BYTES` may hold
 * @throws Error that says why they are no JSON, and never quotes them
 */
export function parseJsonBytes(bytes: Buffer, maxValues = MAX_JSON_VALUES): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError("it is not UTF-8");
  if (bytes.length > UNCOUNTED_BYTES && countValues(bytes, maxValues) > maxValues)
    throw new RangeError(`it holds more than ${maxValues} values in more than ${UNCOUNTED_BYTES} bytes`);
  const text = bytes.toString("utf8");
  try {
    return parseJsonText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (err) {
    if (err instanceof RangeError) throw err;
    // Without the piece of the text that V8 quotes: it may be of a secret.
    throw new SyntaxError((err as Error).message.replace(/, (?:\.{3})?".*$/s, ""));
  }
}

/**
 * Where in the value of some JSON half a character stands (a surrogate of UTF-16 alone), in a text or a key, as
 * `a.0.b`; null where nowhere. The stores keep text in UTF-8, which has no bytes for it.
 */
export function halfCharacterOf(bytes: Buffer, value: unknown): string | null {
  // Nor has the JSON itself: only an escape can stand for one.
  return bytes.includes("\\ud") || bytes.includes("\\uD") ? placeIn(value, isHalf, "") : null;
}

function isHalf(value: unknown): boolean {
  return typeof value === "string" && !value.isWellFormed();
}

/** Where something stands: a value, or one with a key, that is such. Null: nowhere. */
function placeIn(value: unknown, isSuch: (value: unknown) => boolean, at: string): string | null {
  if (isSuch(value)) return at;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, each] of Object.entries(value)) {
    const place = isSuch(key) ? at : placeIn(each, isSuch, at ? `${at}.${key}` : key);
    if (place !== null) return place;
  }
  return null;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1));
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}
