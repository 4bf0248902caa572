import { fault, NotImplemented, ServerFault } from "../errors.ts";
import { parts, scalarAt } from "../query/paths.ts";
import { type Key, type Maybe, type Raw, type RawObject, toKey } from "../query/values.ts";
import { type Column, type Index, isMultikey, keyPattern, type Table } from "./catalog.ts";
import { documentOf, splitLongText, textTable } from "./out-of-line.ts";
import {
  assignmentOf,
  emptied,
  insertionOf,
  isKeyed,
  type Packed,
  type PackedRow,
  pack,
  unpack,
} from "./packed.ts";
import { ColumnChange, entries, isConstraint, type Schema } from "./schema.ts";
import type { Statements } from "./statements.ts";

/** Data derived from a table's description for each row written. */
type Layout = {
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
  /** The table's declaration, if rows can be packed: no index needs more than their columns. */
  packed: Packed | undefined;
  /** Insertions of packed rows, by mask. */
  insertions: Map<number, string>;
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
    packed: canPack(table) ? table.packed : undefined,
    insertions: new Map(),
  };
}

function canPack({ columns, indexes, packed }: Table): boolean {
  if (!packed || [...columns.values()].some(({ many }) => many)) return false;
  const keyed = new Map(packed.fields.filter(({ kind }) => isKeyed(kind)).map((each) => [each.path, each]));
  const filled = ([path]: [string, unknown]) => keyed.get(path)?.empty === "never";
  return (
    columns.keys().every((path) => keyed.has(path)) &&
    indexes.every(({ unique, sparse, key }) => !unique || (sparse && key.length === 1) || key.every(filled))
  );
}

/** Writes single documents with their columns and side entries, in the writer's transaction, each atomically. */
export class RowWriter {
  readonly #statements: Statements;
  readonly #schema: Schema;

  constructor(statements: Statements, schema: Schema) {
    this.#statements = statements;
    this.#schema = schema;
  }

  /** Inserts a document that may contain the table's out-of-line field. See `insertText`. */
  insert(table: Table, document: RawObject): void {
    const { rest, text } = splitLongText(document, table.outOfLine);
    this.insertText(table, JSON.stringify(rest), text, rest);
  }

  /**
   * Inserts a document given as JSON text, and its out-of-line text, if any. Throws a server fault (11000) for a
   * duplicate key in a unique index.
   */
  insertText(
    table: Table,
    text: string,
    longText: string | null,
    document = JSON.parse(text) as RawObject,
  ): void {
    checkId(document._id);
    const keys = this.#keys(table, getLayout(table).columns, document);
    const { insertion, multikey } = getLayout(table);
    this.#atomically(table, document, undefined, () => {
      const rid = Number(this.#statements.prepare(insertion).run(text, ...keys).lastInsertRowid);
      if (longText !== null) this.#setLongText(table, rid, longText);
      for (const index of multikey)
        this.#schema.addEntries(table, index, rid, entries(table, index, document));
    });
  }

  /** Inserts a packed document. See `insertText`. */
  insertPacked(table: Table, row: PackedRow): void {
    const { packed, insertions } = getLayout(table);
    const { fields } = table.packed as Packed;
    if (!packed) {
      const document = unpack(fields, row);
      this.insertText(table, JSON.stringify(document), null, document);
      return;
    }
    const insertion = insertions.get(row.mask) ?? insertionOf(table.sql, fields, row.mask);
    insertions.set(row.mask, insertion);
    try {
      this.#statements.run(insertion, ...row.values);
    } catch (error) {
      throw this.#explain(table, unpack(fields, row), undefined, error);
    }
  }

  #setLongText(table: Table, rid: number, text: string | null): void {
    if (text === null) this.#statements.run(`DELETE FROM ${textTable(table)} WHERE rid = ?`, rid);
    else this.#statements.run(getLayout(table).textInsertion, rid, text);
  }

  /** Returns a document's column values and side entries that a change of `paths` (`undefined`: any) can affect. */
  snapshot(table: Table, document: RawObject, paths: string[] | undefined): Snapshot {
    const columns = getLayout(table).columns.filter(
      (column) => column.path !== "_id" && touches(column, paths),
    );
    const indexes = getLayout(table).multikey.filter((index) =>
      index.key.some(([path]) => columns.some((c) => c.path === path)),
    );
    return {
      paths,
      columns,
      many: columns.map((column) => column.many),
      keys: columns.map((column) => columnValue(column, document)),
      indexes,
      entries: indexes.map((index) => entries(table, index, document)),
    };
  }

  /** Replaces the row's document; `held` is the snapshot of the stored one, `stored` its text. */
  update(table: Table, rid: number, held: Snapshot, stored: string, document: RawObject, text: string): void {
    const keys = this.#keys(table, held.columns, document);
    // a column that has just become multikey has moved the stored document's entries to a side table
    const stale = held.columns.some((column, i) => column.many !== held.many[i]);
    const before = stale ? this.snapshot(table, JSON.parse(stored) as RawObject, held.paths) : held;
    const after = this.snapshot(table, document, held.paths);
    const changed = held.columns
      .map((_, i) => i)
      .filter((i) => keys[i] !== before.keys[i] && !held.columns[i]?.many);
    const moved = after.indexes.filter(
      (_, i) => JSON.stringify(before.entries[i]) !== JSON.stringify(after.entries[i]),
    );
    const { rest, text: longText } = splitLongText(document, table.outOfLine);
    const { packed } = getLayout(table);
    const values: Key[] = [];
    const mask = packed && pack(packed.fields, document, (value) => value as Raw, values);
    const set =
      mask !== undefined
        ? assignmentOf((packed as Packed).fields, { mask, values })
        : {
            sql: `doc = ?${changed.map((i) => `, ${(held.columns[i] as Column).sql} = ?`).join("")}${table.packed ? emptied(table.packed.fields) : ""}`,
            values: [longText === null ? text : JSON.stringify(rest), ...changed.map((i) => keys[i] as Key)],
          };
    const write = () => {
      this.#statements.run(`UPDATE ${table.sql} SET ${set.sql} WHERE rid = ?`, ...set.values, rid);
      // Last: without a savepoint, a refused unique key must have changed nothing.
      if (table.outOfLine !== undefined) this.#setLongText(table, rid, longText);
    };
    if (changed.length === 0 && moved.length === 0) return void write();
    this.#atomically(table, document, rid, () => {
      write();
      for (const index of moved) {
        const at = after.indexes.indexOf(index);
        this.#schema.removeEntries(table, index, rid, before.entries[at] as Key[][]);
        this.#schema.addEntries(table, index, rid, after.entries[at] as Key[][]);
      }
    });
  }

  remove(table: Table, rid: number, document: RawObject | undefined): void {
    if (document)
      for (const index of getLayout(table).multikey)
        this.#schema.removeEntries(table, index, rid, entries(table, index, document));
    this.#statements.run(`DELETE FROM ${table.sql} WHERE rid = ?`, rid);
  }

  #keys(table: Table, columns: Column[], document: RawObject): Key[] {
    for (;;) {
      try {
        return columns.map((column) => this.#schema.columnKey(column, document));
      } catch (error) {
        if (!(error instanceof ColumnChange)) throw error;
        this.#schema.change(table, error);
      }
    }
  }

  /** Runs the statements of one document so that a violated index undoes all of them. */
  #atomically(table: Table, document: RawObject, rid: number | undefined, write: () => void): void {
    this.#refuseNullDuplicate(table, document, rid);
    const nested = getLayout(table).multikey.length > 0;
    // When SQLite rolls back the transaction itself, for example on a full disk, its savepoints are gone.
    const stands = () => nested && this.#statements.db.isTransaction;
    if (nested) this.#statements.run("SAVEPOINT row");
    try {
      write();
    } catch (error) {
      if (stands()) this.#statements.run("ROLLBACK TO row");
      throw this.#explain(table, document, rid, error);
    } finally {
      if (stands()) this.#statements.run("RELEASE row");
    }
  }

  // SQLite allows any number of NULLs in a unique index; MongoDB treats a missing value as a value.
  #refuseNullDuplicate(table: Table, document: RawObject, rid: number | undefined): void {
    for (const index of getLayout(table).unique) {
      const keys = keysOf(table, index, document);
      if (!keys.includes(null) || (index.sparse && isAbsent(table, index, document))) continue;
      if (this.#isTaken(table, index, keys, rid)) throw duplicate(table, index, document);
    }
  }

  /** True if another row has these keys in a unique index. */
  #isTaken(table: Table, index: Index, keys: Key[], rid: number | undefined): boolean {
    const columns = index.key.map(([path]) => table.columns.get(path) as Column);
    const document = documentOf(table, (field) => index.key.some(([path]) => path.split(".")[0] === field));
    const match = columns.map((column, i) =>
      keys[i] === null ? `${column.sql} IS NULL` : `${column.sql} = ?`,
    );
    const sql = `SELECT rid, ${document} FROM ${table.sql} WHERE ${match.join(" AND ")} AND rid IS NOT ?`;
    const params = keys.filter((key) => key !== null);
    for (const [, text] of this.#statements.iterate<[number, string]>(sql, ...params, rid ?? null)) {
      if (!index.sparse || !isAbsent(table, index, JSON.parse(text) as RawObject)) return true;
    }
    return false;
  }

  #explain(table: Table, document: RawObject, rid: number | undefined, error: unknown): unknown {
    if (!isConstraint(error)) return error;
    const unique = [ID_INDEX, ...table.indexes.filter((index) => index.unique)];
    const violated = unique.find(
      (index) =>
        !isMultikey(table, index) && this.#isTaken(table, index, keysOf(table, index, document), rid),
    );
    const index = violated ?? unique.find((other) => isMultikey(table, other));
    return index ? duplicate(table, index, document) : error;
  }
}

function checkId(id: Maybe): void {
  if (Array.isArray(id)) throw fault.badValue("The '_id' value cannot be of type array");
  if (toKey(id) === null) throw new NotImplemented(`the _id ${JSON.stringify(id)}`);
}

/** A document's column values and side entries, in the order of `columns` and `indexes`. */
type Snapshot = {
  paths: string[] | undefined;
  columns: Column[];
  many: boolean[];
  keys: Key[];
  indexes: Index[];
  entries: Key[][][];
};

const ID_INDEX: Index = { name: "_id_", key: [["_id", 1]], unique: true, sparse: false };

function touches(column: Column, paths: string[] | undefined): boolean {
  if (!paths) return true;
  return paths.some(
    (path) =>
      path === column.path || column.path.startsWith(`${path}.`) || path.startsWith(`${column.path}.`),
  );
}

function columnValue(column: Column, document: RawObject): Key {
  const value = scalarAt(document, column.steps);
  return typeof value === "symbol" ? null : toKey(value);
}

function keysOf(table: Table, index: Index, document: RawObject): Key[] {
  return index.key.map(([path]) => columnValue(table.columns.get(path) as Column, document));
}

function isAbsent(table: Table, index: Index, document: RawObject): boolean {
  return index.key.every(
    ([path]) => scalarAt(document, (table.columns.get(path) as Column).steps) === undefined,
  );
}

function duplicate(table: Table, index: Index, document: RawObject): ServerFault {
  const keyValue: RawObject = {};
  for (const [path] of index.key) {
    const value = scalarAt(document, parts(path));
    keyValue[path] = typeof value === "symbol" || value === undefined ? null : (value as Raw);
  }
  const shown = Object.keys(keyValue).map((path) => `${path}: ${JSON.stringify(keyValue[path])}`);
  return new ServerFault(
    11000,
    "DuplicateKey",
    `E11000 duplicate key error collection: ${table.name} index: ${index.name} dup key: { ${shown.join(", ")} }`,
    { keyPattern: keyPattern(index), keyValue },
  );
}
