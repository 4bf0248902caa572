import type { RawObject } from "../query/values.ts";
import type { Table } from "./catalog.ts";
import { quote } from "./statements.ts";

/**
 * A long text of a document may stand apart: as it is, in a table of its own, under the document's row id. Then an
 * update does not copy it, a search does not pass over it, and it is not escaped into the document's JSON.
 */

/** SQL identifier of the table that holds what stands apart. */
export function apartTable(table: Table): string {
  return quote(`a_${table.name}`);
}

/** True for a text that SQLite gives back as it was given. */
function canStandApart(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}

/** The text of a document's field that can stand apart; null where it has to stay in the document, or there is none. */
export function apartText(document: Record<string, unknown>, apart: string): string | null {
  const text = document[apart];
  return canStandApart(text) ? text : null;
}

/** A document without its field `apart`, and the text of that; null where it has to stay in the document. */
export function takeApart<T extends Record<string, unknown>>(
  document: T,
  apart: string | undefined,
): { rest: T; text: string | null } {
  const text = apart === undefined ? null : apartText(document, apart);
  if (text === null) return { rest: document, text };
  const { [apart as string]: _, ...rest } = document;
  return { rest: rest as T, text };
}

/** The whole document as an SQL expression over a row of the table. */
export function wholeDocument(table: Table): string {
  if (table.apart === undefined) return "doc";
  const name = `,${JSON.stringify(table.apart)}:`.replaceAll("'", "''");
  const whole = `substr(doc, 1, length(doc) - 1) || '${name}' || json_quote(a.text) || '}'`;
  return `coalesce((SELECT ${whole} FROM ${apartTable(table)} a WHERE a.rid = ${table.sql}.rid), doc)`;
}

/** Whether a filter or a sort names what stands apart. */
export function namesApart(table: Table, value: unknown): boolean {
  if (table.apart === undefined || typeof value !== "object" || value === null) return false;
  return Object.entries(value as RawObject).some(
    ([path, item]) => path.split(".")[0] === table.apart || namesApart(table, item),
  );
}
