import {
  halfCharacterOf,
  type NumberTooLarge,
  parseJsonBytes,
  unreadableJson,
} from "../../../../lib/json/json.ts";
import { countValues, MAX_JSON_VALUES } from "../../../../lib/json/json-values.ts";

/** Limit of values in a list that is processed in chunks. */
export const MAX_LIST_VALUES = 200_000;

/** A request to the splitting thread. */
export interface SplitRequest {
  bytes: Uint8Array;
  /** The field with the list; null if the list is the whole body. */
  field: string | null;
  /** Limit of bytes per chunk, unless a single item has more. */
  most: number;
}

/** A body with one large list, in chunks. */
export interface Split {
  /** The outline of the body for validation: as many items, all empty, and the first other key without its value. */
  outline: unknown;
  /** JSON texts of lists of the items, in order. */
  texts: string[];
  /** Number of values in the body. */
  values: number;
}

/** The result for a body: chunks, or why it is no JSON, or the path of a lone surrogate. */
export type Splitting = Split | { notJson: string; field: string } | { half: string };

/** Parses a body and splits its list into chunks. */
export function split({ bytes, field, most }: SplitRequest): Splitting {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let body: unknown;
  try {
    body = parseJsonBytes(raw, { maxValues: MAX_LIST_VALUES, exact: field === null });
  } catch (err) {
    return { notJson: unreadableJson("body", err), field: (err as Partial<NumberTooLarge>).field ?? "" };
  }
  // A body that is a list contains events: their data belongs to their publisher.
  const half = field === null ? null : halfCharacterOf(raw, body);
  if (half !== null) return { half };
  const list = field !== null && isObject(body) ? body[field] : body;
  return {
    outline: outlineOf(body, field),
    texts: Array.isArray(list) && !isHuge(list) ? cut(list, most) : [],
    values: countValues(raw, MAX_LIST_VALUES),
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
 * Whether a list exceeds every operation's limit, so that only its length is passed on: receiving an object for each of
 * millions of items would block the main thread for seconds.
 */
function isHuge(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > MAX_JSON_VALUES;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A chunk is parsed on the main thread in about two milliseconds; a single item may take longer. */
export const MAX_CHUNK_VALUES = 5_000;

function cut(list: unknown[], most: number): string[] {
  const chunks: string[][] = [];
  let left = { bytes: 0, values: 0 };
  for (const item of list) {
    const text = Buffer.from(JSON.stringify(item));
    const bytes = text.length + 1;
    const values = countValues(text, MAX_LIST_VALUES);
    if (bytes > left.bytes || values > left.values) {
      chunks.push([]);
      left = { bytes: most, values: MAX_CHUNK_VALUES };
    }
    chunks.at(-1)?.push(text.toString());
    left = { bytes: left.bytes - bytes, values: left.values - values };
  }
  return chunks.map((items) => `[${items.join()}]`);
}
