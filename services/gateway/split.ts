import { halfCharacterOf, type NumberTooLarge, parseJsonBytes } from "../../lib/json.ts";
import { MOST_VALUES } from "./values.ts";

/** What the splitting thread is given. */
export interface SplitRequest {
  bytes: Uint8Array;
  /** The field that holds the list; null when the list is the whole body. */
  field: string | null;
  /** A piece has no more bytes, unless one item alone has more. */
  most: number;
}

/** A body of which one list is all that counts, in pieces. */
export interface Split {
  /**
   * The body with next to nothing in it: its list has as many items, which are empty, and the first other key is there
   * without its value. Shows what does not fit.
   */
  outline: unknown;
  /** JSON texts of lists of the items, in order. */
  texts: string[];
}

/** What comes of a body: or why it is no JSON, or where half a character stands in it. */
export type Splitting = Split | { notJson: string; field: string } | { half: string };

/** Parses a body and cuts its list into pieces. */
export function split({ bytes, field, most }: SplitRequest): Splitting {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let body: unknown;
  try {
    body = parseJsonBytes(raw);
  } catch (err) {
    const { message, field = "" } = err as Error & Partial<NumberTooLarge>;
    return { notJson: message, field };
  }
  // A body that is a list is one of events: what stands in their data is their publisher's.
  const half = field === null ? null : halfCharacterOf(raw, body);
  if (half !== null) return { half };
  const list = field !== null && isObject(body) ? body[field] : body;
  return {
    outline: outlineOf(body, field),
    texts: Array.isArray(list) && !isHuge(list) ? cut(list, most) : [],
  };
}

function outlineOf(body: unknown, field: string | null): unknown {
  if (field === null || !isObject(body)) return emptied(body);
  const other = Object.keys(body).find((name) => name !== field);
  return {
    ...(field in body && { [field]: emptied(body[field]) }),
    ...(other !== undefined && { [other]: null }),
  };
}

const SHOWN_CHARACTERS = 200;

function emptied(value: unknown): unknown {
  if (isHuge(value)) return new Array(value.length);
  if (Array.isArray(value)) return Array.from(value, () => ({}));
  if (typeof value === "string") return value.slice(0, SHOWN_CHARACTERS);
  return isObject(value) ? {} : value;
}

/**
 * A list of more items than any operation takes: only its length is shown. To receive an object for each of millions of
 * items would hold the main thread up for seconds.
 */
function isHuge(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > MOST_VALUES;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function cut(list: unknown[], most: number): string[] {
  const pieces: string[][] = [];
  let left = 0;
  for (const item of list) {
    const text = JSON.stringify(item);
    const size = Buffer.byteLength(text) + 1;
    if (size > left) {
      pieces.push([]);
      left = most;
    }
    pieces.at(-1)?.push(text);
    left -= size;
  }
  return pieces.map((items) => `[${items.join()}]`);
}
