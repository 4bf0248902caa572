import type { Catalog, Table } from "../tables/catalog.ts";
import { documentOf, textTable, usesField } from "../tables/out-of-line.ts";
import { packedBytes } from "../tables/packed.ts";
import type { Statements } from "../tables/statements.ts";
import { runUpdate, type SqlUpdate, type Updated } from "../update/sql-update.ts";
import { compileFilter, type Matcher } from "./filter.ts";
import { type Plan, planFilter, planSort, source } from "./plan.ts";
import { compileProjection, type Projection } from "./projection.ts";
import { compareKeys, type Sort, sortKeys } from "./sort.ts";
import { fromKey, type Key, type Maybe, type RawObject } from "./values.ts";

/** A query in raw form. `limit` 0: no limit. */
export type Query = {
  filter: RawObject;
  sort?: Sort;
  skip?: number;
  limit?: number;
  projection?: RawObject | undefined;
};

/** A matching row: its row id, its stored text and, if it was examined, its parsed document. */
export type Row = { rid: number; text: string; document?: RawObject };

/** The first documents of an answer as text, and the row ids that remain to be fetched. */
export type Page = { documents: string[]; rest: number[] };

/** The first documents of an answer as text, and whether others were left out for their size. */
export type Within = { documents: string[]; more: boolean };

const PAGE_DOCUMENTS = 1_000;
const PAGE_CHARACTERS = 4_000_000;

/** Up to this many documents are all measured; of more, about half as many. */
const MAX_MEASURED = 10_000;
const RANGE = 2 ** 32;
/** 2^32 divided by the golden ratio: its multiples are evenly distributed. */
const GOLDEN = 2_654_435_769;

/** Reads collections on one connection. Callers hold the transaction and have refreshed the catalog. */
export class Queries {
  readonly statements: Statements;
  readonly catalog: Catalog;

  constructor(statements: Statements, catalog: Catalog) {
    this.statements = statements;
    this.catalog = catalog;
  }

  /** Yields matching rows in order, without out-of-line text unless the query or the projection needs it. */
  *rows(table: Table, query: Query, projection?: Projection): Generator<Row> {
    const { filter, skip = 0, limit = 0, sort = [] } = query;
    const plan = planFilter(table, filter);
    const order = planSort(table, sort);
    const uses = usedBy(filter, sort);
    const wants = projection && ((field: string) => projection.wants(field) || uses(field));
    const select: Select = { table, plan, document: documentOf(table, wants) };
    if (order === undefined) {
      yield* slice(this.#sorted(select, filter, sort), skip, limit);
    } else if (plan.exact) {
      yield* this.#select(select, sort, order, window(skip, limit));
    } else {
      yield* slice(this.#matching(select, filter, sort, order), skip, limit);
    }
  }

  *#select({ table, plan, document }: Select, sort: Sort, order: string, limit = ""): Generator<Row> {
    const from = source(table, plan, sort);
    const sql = `SELECT rid, ${document} FROM ${from}${order && ` ORDER BY ${order}`}${limit}`;
    for (const [rid, text] of this.statements.iterate<[number, string]>(sql, ...plan.params))
      yield { rid, text };
  }

  *#matching(select: Select, filter: RawObject, sort: Sort, order: string): Generator<Row> {
    const matches: Matcher = compileFilter(filter);
    for (const row of this.#select(select, sort, order)) {
      const document = JSON.parse(row.text) as RawObject;
      if (matches(document)) yield { rid: row.rid, text: row.text, document };
    }
  }

  #sorted(select: Select, filter: RawObject, sort: Sort): Row[] {
    const found = select.plan.exact ? this.#select(select, [], "") : this.#matching(select, filter, [], "");
    const keyed: { row: Row; keys: Maybe[] }[] = [];
    for (const row of found) {
      keyed.push({ row, keys: sortKeys(parsed(row), sort) });
    }
    return keyed.sort((a, b) => compareKeys(a.keys, b.keys, sort)).map(({ row }) => row);
  }

  /** Returns the first page of a find. */
  find(name: string, query: Query): Page {
    const projection = compileProjection(query.projection);
    const table = this.#table(name, query.filter);
    if (!table) return { documents: [], rest: [] };
    const ids = projection?.idOnly ? this.#ids(table, query) : undefined;
    if (ids) return { documents: ids, rest: [] };
    const page: Page = { documents: [], rest: [] };
    let size = 0;
    for (const row of this.rows(table, query, projection)) {
      if (page.documents.length >= PAGE_DOCUMENTS || size >= PAGE_CHARACTERS) {
        page.rest.push(row.rid);
        continue;
      }
      const text = project(row, projection);
      size += text.length;
      page.documents.push(text);
    }
    return page;
  }

  /**
   * Returns the first documents of an answer that together have no more than a number of characters, the very first
   * always. Orders row ids alone: no document is read that is not returned, but for one, and those that the filter must
   * examine.
   */
  findWithin(name: string, query: Query, most: number): Within {
    const projection = compileProjection(query.projection);
    const table = this.#table(name, query.filter);
    const found: Within = { documents: [], more: false };
    if (!table) return found;
    const sql = `SELECT ${documentOf(table, projection?.wants)} FROM ${table.sql} WHERE rid = ?`;
    let size = 0;
    for (const rid of this.#rids(table, query)) {
      const [text] = this.statements.row<[string]>(sql, rid) as [string];
      const document = project({ rid, text }, projection);
      size += document.length;
      if (size > most && found.documents.length > 0) return { ...found, more: true };
      found.documents.push(document);
    }
    return found;
  }

  #rids(table: Table, { filter, skip = 0, limit = 0, sort = [] }: Query): Iterable<number> {
    const plan = planFilter(table, filter);
    const order = planSort(table, sort);
    if (plan.exact && order !== undefined) {
      const by = `${order && ` ORDER BY ${order}`}${window(skip, limit)}`;
      const sql = `SELECT rid FROM ${source(table, plan, sort)}${by}`;
      return this.statements.rows<[number]>(sql, ...plan.params).map(([rid]) => rid);
    }
    const select = { table, plan, document: documentOf(table, usedBy(filter, sort)) };
    const matching = this.#matching(select, filter, order === undefined ? [] : sort, order ?? "");
    if (order !== undefined) return map(slice(matching, skip, limit), ({ rid }) => rid);
    const keyed = [...map(matching, (row) => ({ rid: row.rid, keys: sortKeys(parsed(row), sort) }))];
    keyed.sort((a, b) => compareKeys(a.keys, b.keys, sort));
    return map(slice(keyed, skip, limit), ({ rid }) => rid);
  }

  // A column holds `_id`, so no document is read if SQL answers the rest too.
  #ids(table: Table, query: Query): string[] | undefined {
    const plan = planFilter(table, query.filter);
    const sort = query.sort ?? [];
    const order = planSort(table, sort);
    if (!plan.exact || order === undefined) return undefined;
    const limit = window(query.skip ?? 0, query.limit ?? 0);
    const sql = `SELECT "_id" FROM ${source(table, plan, sort)}${order && ` ORDER BY ${order}`}${limit}`;
    const ids: string[] = [];
    for (const [key] of this.statements.iterate<[Key]>(sql, ...plan.params)) {
      ids.push(`{"_id":${JSON.stringify(fromKey(key))}}`);
    }
    return ids;
  }

  /** Returns the documents of a page's remaining row ids; deleted ones are omitted. */
  fetch(name: string, rids: number[], spec: RawObject | undefined): string[] {
    const table = this.catalog.tables.get(name);
    if (!table) return [];
    const projection = compileProjection(spec);
    const sql = `SELECT ${documentOf(table, projection?.wants)} FROM ${table.sql} WHERE rid = ?`;
    const texts: string[] = [];
    for (const rid of rids) {
      const row = this.statements.row<[string]>(sql, rid);
      if (row) texts.push(project({ rid, text: row[0] }, projection));
    }
    return texts;
  }

  text(table: Table, rid: number): string {
    const sql = `SELECT ${documentOf(table)} FROM ${table.sql} WHERE rid = ?`;
    return (this.statements.row<[string]>(sql, rid) as [string])[0];
  }

  /** Deletes matching rows in SQL alone; `undefined` if documents must be examined. */
  delete(table: Table, filter: RawObject): number | undefined {
    const plan = planFilter(table, filter);
    return plan.exact
      ? this.statements.run(`DELETE FROM ${source(table, plan, [])}`, ...plan.params)
      : undefined;
  }

  /** Updates in SQL alone; `undefined`, with nothing changed, if documents must be examined. */
  update(table: Table, filter: RawObject, many: boolean, update: SqlUpdate): Updated | undefined {
    const plan = planFilter(table, filter);
    const one = plan.accesses.some(({ path, kind }) => path === "_id" && kind === "equal");
    return plan.exact && (many || one) ? runUpdate(this.statements, table, plan, update) : undefined;
  }

  count(name: string, filter: RawObject): number {
    const table = this.#table(name, filter);
    if (!table) return 0;
    const plan = planFilter(table, filter);
    if (!plan.exact) return [...this.rows(table, { filter })].length;
    const sql = `SELECT count(*) FROM ${source(table, plan, [])}`;
    return (this.statements.row<[number]>(sql, ...plan.params) as [number])[0];
  }

  /** Estimates the text bytes of the documents that match a filter. Reads only the lengths at the start of rows. */
  bytes(name: string, filter: RawObject): number {
    const table = this.catalog.tables.get(name);
    if (!table) return 0;
    const plan = planFilter(table, filter);
    // Without an index that starts with the tenant there are few rows.
    if (!plan.exact) {
      let bytes = 0;
      for (const { text } of this.rows(table, { filter })) bytes += text.length;
      return bytes;
    }
    const count = this.count(name, filter);
    const every = count <= MAX_MEASURED ? 1 : Math.floor((2 * count) / MAX_MEASURED);
    const longText = `(SELECT octet_length(a.text) FROM ${textTable(table)} a WHERE a.rid = ${table.sql}.rid)`;
    const text = table.packed ? packedBytes(table.packed.fields) : "octet_length(doc)";
    const size = table.outOfLine === undefined ? text : `${text} + coalesce(${longText}, 0)`;
    // Every index holds the row id, so rows outside the sample are not read. Multiply to break up regular writes.
    const sql = `SELECT count(*), total(${size}) FROM ${source(table, plan, [])} AND rid * ${GOLDEN} % ${RANGE} < ?`;
    const [measured, bytes] = this.statements.row<[number, number]>(sql, ...plan.params, RANGE / every) ?? [
      0, 0,
    ];
    return measured === 0 ? 0 : (bytes * count) / measured;
  }

  // Check a filter even on an empty collection, so that a mistake shows at once.
  #table(name: string, filter: RawObject): Table | undefined {
    const table = this.catalog.tables.get(name);
    if (!table) compileFilter(filter);
    return table;
  }
}

/** A selection: the rows of a plan, and the document as an SQL expression. */
type Select = { table: Table; plan: Plan; document: string };

/** Returns whether a filter or a sort uses a top-level field. */
function usedBy(filter: RawObject, sort: Sort) {
  return (field: string) => usesField(filter, field) || sort.some(([path]) => path.split(".")[0] === field);
}

/** Returns the document of a row, parsed on first use. */
export function parsed(row: Row): RawObject {
  row.document ??= JSON.parse(row.text) as RawObject;
  return row.document;
}

function project(row: Row, projection: Projection | undefined): string {
  if (!projection) return row.text;
  return JSON.stringify(projection.apply(parsed(row)));
}

function window(skip: number, limit: number): string {
  if (skip === 0 && limit === 0) return "";
  return ` LIMIT ${limit === 0 ? -1 : limit} OFFSET ${skip}`;
}

function* map<T, R>(items: Iterable<T>, to: (item: T) => R): Generator<R> {
  for (const item of items) yield to(item);
}

function* slice<T>(rows: Iterable<T>, skip: number, limit: number): Generator<T> {
  let at = 0;
  for (const row of rows) {
    if (at++ < skip) continue;
    yield row;
    if (limit > 0 && at >= skip + limit) return;
  }
}
