import type { RawObject } from "../query/values.ts";
import type { Table } from "./catalog.ts";
import { quote } from "./statements.ts";

/**
 * Out-of-line storage: a long text of a document goes into a separate table, under the document's row id. Updates then
 * do not copy it, scans skip it, and it is not escaped into the document's JSON.
 */

/** Returns the SQL identifier of the table with the out-of-line texts. */
export function apartTable(table: Table): string {
  return quote(`a_${table.name}`);
}

/** True for a text that SQLite returns unchanged. */
function canBeOutOfLine(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** Returns the text of a document's out-of-line field; null if it is missing or must stay in the document. */
export function apartText(document: Record<string, unknown>, apart: string): string | null {
  const text = document[apart];
  return canBeOutOfLine(text) ? text : null;
}

/** Returns a document without its field `apart`, and that field's text; null if it is missing or must stay. */
export function takeApart<T extends Record<string, unknown>>(
  document: T,
  apart: string | undefined,
): { rest: T; text: string | null } {
  const text = apart === undefined ? null : apartText(document, apart);
  if (text === null) return { rest: document, text };
  const { [apart as string]: _, ...rest } = document;
  return { rest: rest as T, text };
}

/** Returns an SQL expression for the whole document of a row. */
export function wholeDocument(table: Table): string {
  if (table.apart === undefined) return "doc";
  const name = `,${JSON.stringify(table.apart)}:`.replaceAll("'", "''");
  const whole = `substr(doc, 1, length(doc) - 1) || '${name}' || json_quote(a.text) || '}'`;
  return `coalesce((SELECT ${whole} FROM ${apartTable(table)} a WHERE a.rid = ${table.sql}.rid), doc)`;
}

/** Whether a filter or a sort uses the out-of-line field. */
export function namesApart(table: Table, value: unknown): boolean {
  if (table.apart === undefined || typeof value !== "object" || value === null) return false;
  return Object.entries(value as RawObject).some(
    ([path, item]) => path.split(".")[0] === table.apart || namesApart(table, item),
  );
}
