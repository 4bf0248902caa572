import { type Column, type Index, isMultikey, type Table } from "./catalog.ts";
import { textTable } from "./out-of-line.ts";

/** Data derived from a table's description for each row written. */
export type Layout = {
  /** The description's `changes` at the time. */
  changes: number;
  columns: Column[];
  /** Takes the document's text and the keys of all columns. */
  insertion: string;
  /** Takes the row id and the out-of-line text. */
  textInsertion: string;
  /** The indexes with entries in a side table. */
  multikey: Index[];
  /** The other unique indexes. */
  unique: Index[];
};

const layouts = new WeakMap<Table, Layout>();

export function getLayout(table: Table): Layout {
  let layout = layouts.get(table);
  if (layout?.changes !== table.changes) {
    layout = newLayout(table);
    layouts.set(table, layout);
  }
  return layout;
}

function newLayout(table: Table): Layout {
  const columns = [...table.columns.values()];
  const names = columns.map((column) => column.sql).join(", ");
  return {
    changes: table.changes,
    columns,
    insertion: `INSERT INTO ${table.sql} (doc, ${names}) VALUES (?${", ?".repeat(columns.length)})`,
    textInsertion: `INSERT OR REPLACE INTO ${textTable(table)} VALUES (?, ?)`,
    multikey: table.indexes.filter((index) => isMultikey(table, index)),
    unique: table.indexes.filter((index) => index.unique && !isMultikey(table, index)),
  };
}
