import { parts } from "../query/paths.ts";
import type { Sort } from "../query/sort.ts";
import type { Raw, RawObject } from "../query/values.ts";
import { type Packed, toPacked } from "./packed.ts";
import { quote, type Statements } from "./statements.ts";

/** The column of an indexed path. */
export type Column = {
  path: string;
  steps: string[];
  /** SQL identifier */
  sql: string;
  /** The path has held an array: use the side tables of its indexes, not the column (MongoDB: multikey). */
  many: boolean;
  /** The path has held a value whose column value does not sort or compare exactly (embedded document, NaN). */
  odd: boolean;
};

export type Index = {
  name: string;
  key: Sort;
  unique: boolean;
  sparse: boolean;
};

/** A stored collection: a table, its columns and indexes. `_id` counts as a column. */
export type Table = {
  name: string;
  /** SQL identifier of the table */
  sql: string;
  columns: Map<string, Column>;
  indexes: Index[];
  /** The top-level field whose text is stored out of line (see out-of-line.ts). */
  outOfLine?: string | undefined;
  /** The fields that rows hold in columns (see packed.ts). */
  packed?: Packed | undefined;
  /** Version of this description: derived data is valid for one version. */
  changes: number;
};

type StoredTable = {
  columns: Pick<Column, "path" | "many" | "odd">[];
  indexes: Index[];
  /** `outOfLine` of the table. */
  apart?: string | undefined;
  /** The declaration of `packed`. */
  packed?: string | undefined;
};

/** A connection's knowledge of the collections, reloaded after another connection changes them. */
export class Catalog {
  readonly tables = new Map<string, Table>();
  readonly #statements: Statements;
  #version = -1;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Reloads if the file has another version. Call it inside the transaction that uses the tables. */
  refresh(): void {
    const [version] = this.#statements.row<[number]>("SELECT value FROM _meta WHERE key = 'catalog'") ?? [0];
    if (version === this.#version) return;
    this.tables.clear();
    for (const [name, text] of this.#statements.rows<[string, string]>(
      "SELECT name, catalog FROM _collections",
    )) {
      this.tables.set(name, revive(name, JSON.parse(text) as StoredTable));
    }
    this.#version = version;
  }

  /** Drops loaded descriptions, after a rollback. */
  invalidate(): void {
    this.#version = -1;
  }

  /** Stores a table's description, or removes it if `undefined`, in the current transaction. */
  save(name: string, table: Table | undefined): void {
    if (table) {
      table.changes++;
      this.tables.set(name, table);
      const columns = [...table.columns.values()].map(({ path, many, odd }) => ({ path, many, odd }));
      const { indexes, outOfLine: apart, packed } = table;
      const text = JSON.stringify({ columns, indexes, apart, packed: packed?.text } satisfies StoredTable);
      this.#statements.run("INSERT OR REPLACE INTO _collections (name, catalog) VALUES (?, ?)", name, text);
    } else {
      this.tables.delete(name);
      this.#statements.run("DELETE FROM _collections WHERE name = ?", name);
    }
    this.#version += 1;
    this.#statements.run("INSERT OR REPLACE INTO _meta (key, value) VALUES ('catalog', ?)", this.#version);
  }
}

function revive(name: string, stored: StoredTable): Table {
  const table = emptyTable(name);
  for (const { path, many, odd } of stored.columns)
    table.columns.set(path, { ...newColumn(path), many, odd });
  table.indexes = stored.indexes;
  table.outOfLine = stored.apart;
  table.packed = stored.packed === undefined ? undefined : toPacked(stored.packed);
  return table;
}

export function emptyTable(name: string): Table {
  const columns = new Map([["_id", newColumn("_id")]]);
  return { name, sql: quote(`d_${name}`), columns, indexes: [], changes: 0 };
}

export function newColumn(path: string): Column {
  const sql = path === "_id" ? quote("_id") : quote(`k_${path}`);
  return { path, steps: parts(path), sql, many: false, odd: false };
}

/** True if an index has a path that can hold arrays; its entries are in a side table. */
export function isMultikey(table: Table, index: Index): boolean {
  return index.key.some(([path]) => table.columns.get(path)?.many);
}

export function sideTable(table: Table, index: Index): string {
  return quote(`m_${table.name}#${index.name}`);
}

export function indexIdentifier(table: Table, indexName: string): string {
  return quote(`i_${table.name}#${indexName}`);
}

export function keyPattern(index: Index): RawObject {
  return Object.fromEntries(index.key) as { [key: string]: Raw };
}
