import { invalidCursor } from "./faults.ts";
import { Type } from "./type.ts";

/** The longest that `toCursor` makes: of a title of 500 characters, each of them six in JSON. */
const MAX_CURSOR = 5000;

/** What a sorted list takes to go on. */
export const Cursor = Type.Optional(
  Type.String({ maxLength: MAX_CURSOR, description: "`next_cursor` of an earlier answer." }),
);

/** Where a page of a sorted list ended: what its last row has in the field that the list is sorted by, and its id. */
interface Place {
  value: Date | string | number;
  id: string;
}

export function toCursor(by: string, { value, id }: Place): string {
  return Buffer.from(JSON.stringify([by, value, id])).toString("base64url");
}

/** @throws Fault validation_failed when no list sorted by this field gave it */
export function fromCursor(cursor: string, by: string): Place {
  const [field, value, id] = partsOf(cursor);
  const isValue = typeof value === "string" || typeof value === "number";
  if (field !== by || typeof id !== "string" || !isValue) throw invalidCursor(cursor);
  if (by !== "created_at") return { value, id };
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) throw invalidCursor(cursor);
  return { value: at, id };
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
