import { NotImplemented } from "../errors.ts";
import { fromKey, type Key, type Maybe, type Raw, type RawObject, toKey } from "../query/values.ts";
import { quote } from "./statements.ts";

/**
 * Packed rows: the declared fields of a document are columns, and its text is empty, so that neither a write nor an
 * update converts the others. A document that does not fit its declaration is stored as text, as in other tables; every
 * statement has to expect both.
 */

/**
 * A top-level field and the kind of its values. `text`: a string that no index or sort needs, such as a long one.
 * `json`: any value, as text.
 */
export interface PackedField {
  path: string;
  kind: "string" | "number" | "date" | "text" | "json";
  /** The meaning of an empty column. */
  empty: "never" | "null" | "absent";
}

export interface Packed {
  /** The declaration as JSON, which travels with the rows. */
  text: string;
  fields: PackedField[];
}

/** A packed document: a bit for each field with a value (2 ** its position), and these values. */
export interface PackedRow {
  mask: number;
  values: Key[];
}

/** Bits that a number holds exactly. */
const MOST_FIELDS = 52;

/** Reads a declaration. @throws NotImplemented for more fields than it can hold, or without an `_id` at first */
export function toPacked(text: string): Packed {
  const fields = JSON.parse(text) as PackedField[];
  if (fields.length > MOST_FIELDS) throw new NotImplemented(`more than ${MOST_FIELDS} packed fields`);
  if (fields[0]?.path !== "_id")
    throw new NotImplemented("packed documents whose first field is not their _id");
  return { text, fields };
}

/** Returns the SQL identifier of a field's column. */
export function columnOf({ path, kind }: PackedField): string {
  if (path === "_id") return quote("_id");
  return quote(`${isKeyed(kind) ? "k" : "j"}_${path}`);
}

/** Whether a field's column is that of an indexed path (`toKey`). */
export function isKeyed(kind: PackedField["kind"]): boolean {
  return kind !== "text" && kind !== "json";
}

/**
 * Adds a document's values to a list, and returns its mask; undefined, with nothing added, if it does not fit exactly.
 *
 * @param toRaw converts a value to its stored form
 */
export function pack(
  fields: readonly PackedField[],
  document: Record<string, unknown>,
  toRaw: (value: unknown) => Raw,
  values: Key[],
): number | undefined {
  const from = values.length;
  let mask = 0;
  let others = 0;
  for (const path in document) if (document[path] !== undefined) others++;
  for (let i = 0, bit = 1; i < fields.length; i++, bit *= 2) {
    const field = fields[i] as PackedField;
    const value = document[field.path];
    if (value !== undefined) others--;
    else if (field.empty === "absent") continue;
    const key = toColumn(field, value === undefined ? undefined : toRaw(value));
    // Counted, so that it does not fit.
    if (key === undefined) others++;
    else if (key !== null) {
      mask += bit;
      values.push(key);
    }
  }
  if (others === 0) return mask;
  values.length = from;
  return undefined;
}

/** Returns what a field's column holds for a value; undefined if it cannot hold it exactly. */
export function toColumn({ kind, empty }: PackedField, value: Maybe): Key | undefined {
  if (value === undefined) return empty === "absent" ? null : undefined;
  if (value === null) return empty === "null" ? null : undefined;
  switch (kind) {
    case "string":
      return isText(value) ? toKey(value) : undefined;
    case "text":
      return isText(value) ? value : undefined;
    case "number":
      return Number.isSafeInteger(value) ? (value as number) : undefined;
    case "date":
      return isDate(value) ? toKey(value) : undefined;
    case "json":
      return JSON.stringify(value);
  }
}

/** A string that SQLite returns unchanged. */
function isText(value: Raw): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** A date that its key holds in plain digits. */
function isDate(value: Raw): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return typeof value.$ === "number" && value.$ >= 0;
}

/** Packed rows in their order, all values in one list, and their declaration. */
export type PackedRows = { fields: string; masks: number[]; values: Key[] };

export function* rowsOf({ masks, values }: PackedRows): Generator<PackedRow, void> {
  let at = 0;
  for (const mask of masks) {
    const from = at;
    for (let rest = mask; rest > 0; rest = Math.floor(rest / 2)) at += rest % 2;
    yield { mask, values: values.slice(from, at) };
  }
}

export function unpack(fields: readonly PackedField[], { mask, values }: PackedRow): RawObject {
  const document: RawObject = {};
  let at = 0;
  for (const [i, { path, kind, empty }] of fields.entries()) {
    if (has(mask, i)) {
      const key = values[at++] as Key;
      document[path] = isKeyed(kind)
        ? fromKey(key)
        : kind === "text"
          ? key
          : (JSON.parse(key as string) as Raw);
    } else if (empty === "null") document[path] = null;
  }
  return document;
}

/** Returns the statement that inserts the rows with a mask. It takes their values. */
export function insertionOf(sql: string, fields: readonly PackedField[], mask: number): string {
  const columns = fields.filter((_, i) => has(mask, i)).map(columnOf);
  return `INSERT INTO ${sql} (doc, ${columns.join(", ")}) VALUES (''${", ?".repeat(columns.length)})`;
}

/** Returns the assignments of all columns but that of `_id`, and their values in a row. */
export function assignmentOf(fields: readonly PackedField[], { mask, values }: PackedRow) {
  let at = 0;
  const all = fields.map((_, i) => (has(mask, i) ? (values[at++] as Key) : null));
  const sql = fields.slice(1).map((field) => `, ${columnOf(field)} = ?`);
  return { sql: `doc = ''${sql.join("")}`, values: all.slice(1) };
}

/** Returns the assignments that empty what a row would hold twice once it is text: no content stays behind. */
export function emptied(fields: readonly PackedField[]): string {
  const others = fields.filter(({ kind }) => !isKeyed(kind));
  return others.map((field) => `, ${columnOf(field)} = NULL`).join("");
}

function has(mask: number, position: number): boolean {
  return Math.floor(mask / 2 ** position) % 2 === 1;
}

/** Returns an SQL expression for a row's document: for one that is packed, of its `_id` and the wanted fields. */
export function packedDocument(fields: readonly PackedField[], wants: (path: string) => boolean): string {
  const members = fields.filter(({ path }, i) => i === 0 || wants(path)).map(memberOf);
  return `CASE doc WHEN '' THEN '{' || substr(${members.join(" || ")}, 2) || '}' ELSE doc END`;
}

/** Returns an SQL expression for about the bytes of a document's text. */
export function packedBytes(fields: readonly PackedField[]): string {
  const bytes = fields.map(
    (field) => `coalesce(octet_length(${columnOf(field)}) + ${field.path.length + '"":"",'.length}, 0)`,
  );
  return `CASE doc WHEN '' THEN ${bytes.join(" + ")} ELSE octet_length(doc) END`;
}

function memberOf(field: PackedField): string {
  const column = columnOf(field);
  const name = `',${JSON.stringify(field.path).replaceAll("'", "''")}:'`;
  const value = jsonOf(field.kind, column);
  if (field.empty === "absent") return `iif(${column} IS NULL, '', ${name} || ${value})`;
  return field.empty === "null" ? `${name} || coalesce(${value}, 'null')` : `${name} || ${value}`;
}

/** Returns the JSON of what `toColumn` has stored. */
function jsonOf(kind: PackedField["kind"], column: string): string {
  switch (kind) {
    case "string":
      return `json_quote(iif(${column} >= char(127), substr(${column}, 3), ${column}))`;
    case "number":
      return `CAST(${column} AS INTEGER)`;
    case "date":
      return `('{"$":' || substr(${column}, 4) || '}')`;
    case "text":
      return `json_quote(${column})`;
    case "json":
      return column;
  }
}
