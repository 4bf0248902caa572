import { isUtf8 } from "node:buffer";

/** How deep JSON may be nested: what serializes, compares or walks it later has a stack that ends. */
export const MAX_JSON_DEPTH = 1000;

/** The value of JSON text. @throws SyntaxError when it is none, RangeError when it is nested too deep */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Each level takes an opening and a closing character, so that most bodies are too short to be too deep.
  if (text.length > 2 * MAX_JSON_DEPTH && isDeeper(value, MAX_JSON_DEPTH)) {
    throw new RangeError(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  return value;
}

/** What some editors and shells put before a text in UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * As `parseJsonText`, of bytes, behind a byte order mark or not (RFC 8259, 8.1).
 *
 * @throws Error that says why they are no JSON, and never quotes them
 */
export function parseJsonBytes(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError("it is not UTF-8");
  const text = bytes.toString("utf8");
  try {
    return parseJsonText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (err) {
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
  return bytes.includes("\\ud") || bytes.includes("\\uD") ? halfCharacterIn(value, "") : null;
}

function halfCharacterIn(value: unknown, at: string): string | null {
  if (typeof value === "string") return value.isWellFormed() ? null : at;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, each] of Object.entries(value)) {
    const half = key.isWellFormed() ? halfCharacterIn(each, at ? `${at}.${key}` : key) : at;
    if (half !== null) return half;
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
