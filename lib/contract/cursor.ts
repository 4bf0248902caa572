import { Type } from "typebox";
import { invalidCursor } from "./faults.ts";
import { AnyText } from "./schema.ts";

/** The longest that `toCursor` makes: of a title of 500 characters, each of them six in JSON. */
const MAX_CURSOR = 5000;

export const Cursor = Type.Optional(AnyText(MAX_CURSOR, "`next_cursor` of the previous page."));

type Value = Date | string | number;

/** Where a page of a sorted list ended: what its last row has in the field that the list is sorted by, and its id. */
export interface Place {
  value: Value;
  id: string;
}

/** The order of a list; rows with the same value are ordered by their ids. */
export interface Order<By extends string = string> {
  by: By;
  sign: 1 | -1;
}

export function toCursor(by: string, { value, id }: Place): string {
  return Buffer.from(JSON.stringify([by, value, id])).toString("base64url");
}

/** @throws Fault validation_failed when no list sorted by this field gave it */
export function fromCursor(cursor: string, by: string): Place {
  const [field, value, id] = decodeParts(cursor);
  const isValue = typeof value === "string" || typeof value === "number";
  if (field !== by || typeof id !== "string" || !isValue) throw invalidCursor(cursor);
  if (!/(^|_)at$/.test(by)) return { value, id };
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) throw invalidCursor(cursor);
  return { value: at, id };
}

/**
 * Returns the first `limit` rows and the cursor of the next page. Pass one row more than `limit`, if there is one;
 * `more`: there is, but it was left out for its size.
 */
export function pageOf<T extends { _id: string }>(
  { rows, more }: { rows: T[]; more?: boolean },
  limit: number,
  by: keyof T & string,
) {
  const page = rows.slice(0, limit);
  const last = more || rows.length > limit ? page.at(-1) : undefined;
  return { page, next_cursor: last ? toCursor(by, { value: last[by] as Value, id: last._id }) : null };
}

/** Returns the filter of the rows behind a place; its range lets an index begin there. */
export function afterPlace({ value, id }: Place, { by, sign }: Order): Record<string, unknown> {
  const [after, from] = sign === 1 ? ["$gt", "$gte"] : ["$lt", "$lte"];
  return {
    [by]: { [from as string]: value },
    $or: [{ [by]: { [after as string]: value } }, { _id: { [after as string]: id } }],
  };
}

function decodeParts(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
