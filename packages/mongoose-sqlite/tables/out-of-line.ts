import type { RawObject } from "../query/values.ts";
import type { Table } from "./catalog.ts";
import { packedDocument } from "./packed.ts";
import { quote } from "./statements.ts";

/**
 * Out-of-line storage: a long text of a document goes into a separate table, under the document's row id. Updates then
 * do not copy it, scans skip it, and it is not escaped into the document's JSON.
 */

/** Returns the SQL identifier of the table with the out-of-line texts. */
export function textTable(table: Table): string {
  return quote(`a_${table.name}`);
}

/**
 * Returns the text of a document's out-of-line field; null if it is missing, or must stay in the document because
 * SQLite would not return it unchanged.
 */
export function findLongText(document: Record<string, unknown>, field: string): string | null {
  const text = document[field];
  return typeof text === "string" && text.isWellFormed() && !text.includes("\0") ? text : null;
}

/** Returns a document without its out-of-line field, and that field's text; null if it is missing or must stay. */
export function splitLongText(
  document: RawObject,
  field: string | undefined,
): { rest: RawObject; text: string | null } {
  const text = field === undefined ? null : findLongText(document, field);
  if (text === null) return { rest: document, text };
  const { [field as string]: _, ...rest } = document;
  return { rest, text };
}

/** Returns an SQL expression for the document of a row, with at least the wanted fields. */
export function documentOf(table: Table, wants: (field: string) => boolean = () => true): string {
  if (table.packed) return packedDocument(table.packed.fields, wants);
  if (table.outOfLine === undefined || !wants(table.outOfLine)) return "doc";
  const name = `,${JSON.stringify(table.outOfLine)}:`.replaceAll("'", "''");
  const whole = `substr(doc, 1, length(doc) - 1) || '${name}' || json_quote(a.text) || '}'`;
  return `coalesce((SELECT ${whole} FROM ${textTable(table)} a WHERE a.rid = ${table.sql}.rid), doc)`;
}

/** Whether a filter uses a top-level field. */
export function usesField(filter: unknown, field: string): boolean {
  if (typeof filter !== "object" || filter === null) return false;
  return Object.entries(filter as RawObject).some(
    ([path, item]) => path.split(".")[0] === field || usesField(item, field),
  );
}
