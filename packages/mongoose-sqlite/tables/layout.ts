import { apartTable } from "./apart.ts";
import { type Column, type Index, isMultikey, type Table } from "./catalog.ts";

/** What follows from a table's description and is wanted for every row that is written. */
export type Layout = {
  /** As many changes as the description had seen. */
  changes: number;
  columns: Column[];
  /** Takes the document's text and the keys of all columns. */
  insertion: string;
  /** Takes the row id and the text that stands apart. */
  insertionApart: string;
  /** The indexes that keep their entries in a side table. */
  multikey: Index[];
  /** The unique indexes besides. */
  unique: Index[];
};

const layouts = new WeakMap<Table, Layout>();

export function layoutOf(table: Table): Layout {
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
    insertionApart: `INSERT OR REPLACE INTO ${apartTable(table)} VALUES (?, ?)`,
    multikey: table.indexes.filter((index) => isMultikey(table, index)),
    unique: table.indexes.filter((index) => index.unique && !isMultikey(table, index)),
  };
}
