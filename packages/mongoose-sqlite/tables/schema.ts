import { fault, NotImplemented } from "../errors.ts";
import { MANY, scalarAt, valuesAt } from "../query/paths.ts";
import { isOdd, type Key, type RawObject, toKey } from "../query/values.ts";
import {
  type Catalog,
  type Column,
  emptyTable,
  type Index,
  indexIdentifier,
  isMultikey,
  newColumn,
  sideTable,
  type Table,
} from "./catalog.ts";
import { documentOf, textTable } from "./out-of-line.ts";
import { columnOf, emptied, isKeyed, type PackedField, toPacked } from "./packed.ts";
import { quote, type Statements } from "./statements.ts";

/** Key of a missing value in a side table, whose columns cannot be NULL. */
const ABSENT = "\x7f0";

/** Creates and changes tables, columns and indexes, inside the writer's transaction. */
export class Schema {
  readonly #statements: Statements;
  readonly #catalog: Catalog;

  constructor(statements: Statements, catalog: Catalog) {
    this.#statements = statements;
    this.#catalog = catalog;
  }

  /** Returns the collection's table, created if missing. */
  table(name: string): Table {
    return this.#catalog.tables.get(name) ?? this.#create(name);
  }

  #create(name: string, paths: string[] = []): Table {
    const table = emptyTable(name);
    for (const path of paths) table.columns.set(path, newColumn(path));
    const keys = [...table.columns.values()].map(({ path, sql }) =>
      path === "_id" ? `${sql} NOT NULL` : sql,
    );
    this.#statements.db.exec(
      `CREATE TABLE ${table.sql} (rid INTEGER PRIMARY KEY, ${keys.join(", ")}, doc TEXT NOT NULL)`,
    );
    this.#statements.db.exec(`CREATE UNIQUE INDEX ${indexIdentifier(table, "_id_")} ON ${table.sql} ("_id")`);
    this.#catalog.save(name, table);
    return table;
  }

  /** Stores the text of a field out of line from now on. Existing rows stay as they are. */
  setOutOfLine(table: Table, field: string): void {
    if (table.outOfLine === field) return;
    if (table.packed) throw new NotImplemented(`${field} out of line in addition to packed rows`);
    if (table.outOfLine !== undefined)
      throw new NotImplemented(`${field} out of line in addition to ${table.outOfLine}`);
    if (table.columns.has(field)) throw new NotImplemented(`an index on the out-of-line field ${field}`);
    const texts = textTable(table);
    this.#statements.db.exec(
      `CREATE TABLE ${texts} (rid INTEGER PRIMARY KEY, text TEXT NOT NULL);
       CREATE TRIGGER ${quote(`t_${table.name}`)} AFTER DELETE ON ${table.sql}
         BEGIN DELETE FROM ${texts} WHERE rid = old.rid; END`,
    );
    table.outOfLine = field;
    this.#catalog.save(table.name, table);
  }

  /** Keeps the fields of a declaration in columns from now on. Rows of another one become text. */
  setPacked(table: Table, text: string): void {
    if (table.packed?.text === text) return;
    const packed = toPacked(text);
    this.#toText(table);
    this.#takeIn(table);
    this.#dropColumns(table, packed.fields);
    table.packed = undefined;
    this.#addColumns(
      table,
      packed.fields.filter(({ kind }) => isKeyed(kind)).map(({ path }) => path),
    );
    for (const field of packed.fields.filter(({ kind }) => !isKeyed(kind)))
      if (!this.#hasColumn(table, `j_${field.path}`))
        this.#statements.db.exec(`ALTER TABLE ${table.sql} ADD COLUMN ${columnOf(field)}`);
    table.packed = packed;
    this.#catalog.save(table.name, table);
  }

  #hasColumn(table: Table, name: string): boolean {
    const sql = "SELECT 1 FROM pragma_table_info(?) WHERE name = ?";
    return this.#statements.row(sql, `d_${table.name}`, name) !== undefined;
  }

  #toText(table: Table): void {
    if (!table.packed) return;
    const sets = `doc = ${documentOf(table)}${emptied(table.packed.fields)}`;
    this.#statements.run(`UPDATE ${table.sql} SET ${sets} WHERE doc = ''`);
  }

  /** Drops the columns of a declaration that another one, and every index, does without. */
  #dropColumns(table: Table, kept: readonly PackedField[]): void {
    const used = new Set([
      ...kept.map(columnOf),
      ...table.indexes.flatMap((index) => this.#columnsOf(table, index)),
    ]);
    for (const field of table.packed?.fields ?? []) {
      const column = columnOf(field);
      if (used.has(column)) continue;
      this.#statements.db.exec(`ALTER TABLE ${table.sql} DROP COLUMN ${column}`);
      if (isKeyed(field.kind)) table.columns.delete(field.path);
    }
  }

  #columnsOf(table: Table, { key }: Index): string[] {
    return key.map(([path]) => this.#column(table, path).sql);
  }

  /** Ends the out-of-line storage of a table that had it: its texts move into the documents. */
  #takeIn(table: Table): void {
    if (table.outOfLine === undefined) return;
    this.#statements.run(`UPDATE ${table.sql} SET doc = ${documentOf(table)}`);
    this.#statements.db.exec(`DROP TRIGGER ${quote(`t_${table.name}`)}; DROP TABLE ${textTable(table)}`);
    table.outOfLine = undefined;
  }

  /** Adds indexes; does nothing about those that exist. */
  createIndexes(name: string, indexes: Index[]): void {
    // To a new table's columns SQLite adds others one by one, and reads all tables again for each.
    if (!this.#catalog.tables.has(name))
      this.#create(
        name,
        indexes.flatMap(({ key }) => key.map(([path]) => path)),
      );
    for (const index of indexes) this.#createIndex(name, index);
  }

  #createIndex(name: string, index: Index): void {
    const table = this.table(name);
    const same = table.indexes.find((other) => other.name === index.name);
    const alike = table.indexes.find((other) => JSON.stringify(other.key) === JSON.stringify(index.key));
    if (same && alike === same) {
      if (same.unique === index.unique && same.sparse === index.sparse) return;
      throw fault.indexOptionsConflict(
        `An equivalent index already exists with the same name but different options: ${index.name}`,
      );
    }
    if (same)
      throw fault.indexKeySpecsConflict(
        `An existing index has the same name as the requested index but another key: ${index.name}`,
      );
    if (alike) throw fault.indexOptionsConflict(`Index already exists with a different name: ${alike.name}`);
    this.#statements.run("SAVEPOINT building");
    try {
      this.#addColumns(
        table,
        index.key.map(([path]) => path),
      );
      this.#build(table, index);
      this.#refuseNullDuplicates(table, index);
      table.indexes.push(index);
      this.#catalog.save(name, table);
    } catch (error) {
      // On a full disk SQLite rolls the transaction back itself, savepoints included.
      if (this.#statements.db.isTransaction) this.#statements.run("ROLLBACK TO building");
      this.#catalog.invalidate();
      this.#catalog.refresh();
      throw isConstraint(error) ? fault.duplicateKeys(name, index.name) : error;
    } finally {
      if (this.#statements.db.isTransaction) this.#statements.run("RELEASE building");
    }
  }

  // SQLite allows any number of NULLs in a unique index; MongoDB treats a missing value as a value.
  #refuseNullDuplicates(table: Table, index: Index): void {
    if (!index.unique || index.sparse || isMultikey(table, index)) return;
    const columns = index.key.map(([path]) => this.#column(table, path).sql);
    const someNull = columns.map((column) => `${column} IS NULL`).join(" OR ");
    const sql = `SELECT 1 FROM ${table.sql} WHERE ${someNull} GROUP BY ${columns.join(", ")} HAVING count(*) > 1 LIMIT 1`;
    if (this.#statements.row(sql)) throw fault.duplicateKeys(table.name, index.name);
  }

  /** Adds and fills the columns of paths that have none. */
  #addColumns(table: Table, paths: string[]): void {
    const added = paths.filter((path) => !table.columns.has(path)).map(newColumn);
    if (added.length === 0) return;
    for (const { path, sql } of added) {
      if (path === table.outOfLine) throw new NotImplemented(`an index on the out-of-line field ${path}`);
      this.#statements.db.exec(`ALTER TABLE ${table.sql} ADD COLUMN ${sql}`);
    }
    for (const column of added) table.columns.set(column.path, column);
    const sets = added.map(({ sql }) => `${sql} = ?`).join(", ");
    const update = this.#statements.prepare(`UPDATE ${table.sql} SET ${sets} WHERE rid = ?`);
    for (const [rid, document] of this.#documents(table)) {
      const keys = added.map((column) => {
        const value = scalarAt(document, column.steps);
        column.many ||= value === MANY;
        column.odd ||= value !== MANY && isOdd(value);
        return value === MANY ? null : toKey(value);
      });
      if (keys.some((key) => key !== null)) update.run(...keys, rid);
    }
  }

  // In steps by row id: a statement must not change the rows that it iterates over.
  *#documents(table: Table): Generator<[number, RawObject]> {
    let last = -1;
    const document = documentOf(table, (field) => field !== table.outOfLine);
    for (;;) {
      const sql = `SELECT rid, ${document} FROM ${table.sql} WHERE rid > ? ORDER BY rid LIMIT 500`;
      const rows = this.#statements.rows<[number, string]>(sql, last);
      for (const [rid, text] of rows) yield [rid, JSON.parse(text) as RawObject];
      if (rows.length === 0) return;
      last = (rows.at(-1) as [number, string])[0];
    }
  }

  #build(table: Table, index: Index): void {
    const columns = this.#ordered(table, index);
    if (!isMultikey(table, index)) {
      const unique = index.unique ? "UNIQUE " : "";
      const only =
        index.sparse && index.key.length === 1
          ? ` WHERE ${this.#column(table, index.key[0]?.[0] as string).sql} IS NOT NULL`
          : "";
      this.#statements.db.exec(
        `CREATE ${unique}INDEX ${indexIdentifier(table, index.name)} ON ${table.sql} (${columns.join(", ")})${only}`,
      );
      return;
    }
    // Conditions on the leading scalar paths still use an ordinary index.
    const front = columns.slice(
      0,
      index.key.findIndex(([path]) => this.#column(table, path).many),
    );
    if (front.length > 0)
      this.#statements.db.exec(
        `CREATE INDEX ${indexIdentifier(table, index.name)} ON ${table.sql} (${front.join(", ")})`,
      );
    const keys = index.key.map((_, i) => `k${i} NOT NULL`);
    const primary = [...index.key.map((_, i) => `k${i}`), ...(index.unique ? [] : ["rid"])];
    this.#statements.db.exec(
      `CREATE TABLE ${sideTable(table, index)} (${keys.join(", ")}, rid INTEGER NOT NULL, PRIMARY KEY (${primary.join(", ")})) WITHOUT ROWID`,
    );
    for (const [rid, document] of this.#documents(table))
      this.addEntries(table, index, rid, entries(table, index, document));
  }

  #unbuild(table: Table, index: Index): void {
    this.#statements.db.exec(`DROP INDEX IF EXISTS ${indexIdentifier(table, index.name)}`);
    this.#statements.db.exec(`DROP TABLE IF EXISTS ${sideTable(table, index)}`);
  }

  #ordered(table: Table, index: Index): string[] {
    return index.key.map(
      ([path, direction]) => this.#column(table, path).sql + (direction === 1 ? "" : " DESC"),
    );
  }

  #column(table: Table, path: string): Column {
    return table.columns.get(path) as Column;
  }

  /** Returns a document's value for a column; records in the catalog what the column cannot express. */
  columnKey(column: Column, document: RawObject): Key {
    const value = scalarAt(document, column.steps);
    if (value === MANY) {
      if (!column.many) throw new ColumnChange(column, "many");
      return null;
    }
    if (typeof value === "object" && !column.odd && isOdd(value)) throw new ColumnChange(column, "odd");
    return toKey(value);
  }

  /** Applies a column's change: indexes on a path that has proved to hold arrays move to side tables. */
  change(table: Table, { column, kind }: ColumnChange): void {
    if (kind === "odd") {
      column.odd = true;
    } else {
      this.#toText(table);
      const affected = table.indexes.filter((index) => index.key.some(([path]) => path === column.path));
      for (const index of affected) this.#unbuild(table, index);
      column.many = true;
      this.#statements.run(`UPDATE ${table.sql} SET ${column.sql} = NULL WHERE ${column.sql} IS NOT NULL`);
      for (const index of affected) this.#build(table, index);
    }
    this.#catalog.save(table.name, table);
  }

  addEntries(table: Table, index: Index, rid: number, added: Key[][]): void {
    const sql = `INSERT INTO ${sideTable(table, index)} VALUES (${index.key.map(() => "?").join(", ")}, ?)`;
    for (const keys of added) this.#statements.run(sql, ...keys, rid);
  }

  removeEntries(table: Table, index: Index, rid: number, removed: Key[][]): void {
    const match = index.key.map((_, i) => `k${i} = ?`).join(" AND ");
    const sql = `DELETE FROM ${sideTable(table, index)} WHERE ${match} AND rid = ?`;
    for (const keys of removed) this.#statements.run(sql, ...keys, rid);
  }
}

const SQLITE_CONSTRAINT = 19;

/** True for SQLite's error for a duplicate key. */
export function isConstraint(error: unknown): boolean {
  return ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_CONSTRAINT;
}

/** Thrown when a document changes how a column must be treated; the write is retried after the change. */
export class ColumnChange extends Error {
  readonly column: Column;
  readonly kind: "many" | "odd";

  constructor(column: Column, kind: "many" | "odd") {
    super(`column ${column.path} turned out to be ${kind}`);
    this.column = column;
    this.kind = kind;
  }
}

/** Returns a document's distinct entries in a multikey index. Throws a server fault for two arrays in one index. */
export function entries(table: Table, index: Index, document: RawObject): Key[][] {
  const lists = index.key.map(([path]) => valuesAt(document, (table.columns.get(path) as Column).steps));
  if (index.sparse && lists.every((list) => list.every((value) => value === undefined))) return [];
  checkParallel(table, index, document);
  let found: Key[][] = [[]];
  for (const list of lists) {
    const keys = [...new Set(list.map((value) => toKey(value) ?? ABSENT))];
    found = found.flatMap((front) => keys.map((key) => [...front, key]));
  }
  return found;
}

function checkParallel(table: Table, index: Index, document: RawObject): void {
  const arrays = index.key.filter(
    ([path]) => scalarAt(document, (table.columns.get(path) as Column).steps) === MANY,
  );
  const roots = new Set(arrays.map(([path]) => path.split(".")[0] as string));
  const [first, second] = roots;
  if (first !== undefined && second !== undefined) throw fault.parallelArrays(first, second);
}
