import { fault, toWire, type WireError } from "../errors.ts";
import { compileFilter, isOperators } from "../query/filter.ts";
import { parsed, type Queries, type Query, type Row } from "../query/queries.ts";
import type { Raw, RawObject } from "../query/values.ts";
import type { Catalog, Table } from "../tables/catalog.ts";
import { type PackedRow, rowsOf } from "../tables/packed.ts";
import { getLayout, type RowWriter } from "../tables/row-writer.ts";
import type { Schema } from "../tables/schema.ts";
import type { WriteRequest } from "../threads/protocol.ts";
import { sqlUpdate, type Updated } from "./sql-update.ts";
import { compileUpdate, type Update } from "./update.ts";

/** An update of one document or many; `newId` is the hexadecimal id of an upserted document without one. */
export type UpdateRequest = {
  filter: RawObject;
  update: RawObject;
  many: boolean;
  upsert: boolean;
  newId: string;
};
export type UpdateResult = Updated & { upserted?: Raw };
/** An update of one document that returns it as it was before or after. */
export type ModifyRequest = UpdateRequest & { after: boolean };
type Insertion = Omit<WriteRequest & { op: "insert" }, "op">;
/** The operations of a bulk write, in order. */
export type BulkRequest = ({ kind: "update" } & UpdateRequest) | { kind: "delete"; filter: RawObject };
export type BulkError = WireError & { index: number };
export type BulkOutcome = {
  inserted: number;
  matched: number;
  modified: number;
  deleted: number;
  upserted: { index: number; _id: Raw }[];
  errors: BulkError[];
};

/** The write operations of a collection, run by the writer thread in its transaction. */
export class Writes {
  readonly #catalog: Catalog;
  readonly #schema: Schema;
  readonly #queries: Queries;
  readonly #rows: RowWriter;

  constructor(catalog: Catalog, schema: Schema, queries: Queries, rows: RowWriter) {
    this.#catalog = catalog;
    this.#schema = schema;
    this.#queries = queries;
    this.#rows = rows;
  }

  /** Inserts documents given as text, and returns the errors of refused ones. Ordered: stops at the first error. */
  insert({ collection, documents, packed, ordered, longTexts }: Insertion): BulkError[] {
    const table = this.#schema.table(collection);
    if (longTexts) this.#schema.setOutOfLine(table, longTexts.field);
    if (packed) this.#schema.setPacked(table, packed.fields);
    const rows = packed && rowsOf(packed);
    const errors: BulkError[] = [];
    for (const [index, text] of documents.entries()) {
      const refused = attempt(() =>
        text === null
          ? this.#rows.insertPacked(table, rows?.next().value as PackedRow)
          : this.#rows.insertText(table, text, longTexts?.texts[index] ?? null),
      );
      if (refused) errors.push({ ...refused, index });
      if (refused && ordered) break;
    }
    return errors;
  }

  update(name: string, request: UpdateRequest): UpdateResult {
    const table = this.#catalog.tables.get(name);
    const done = table && this.#updateBySql(table, request);
    if (done && (done.matched > 0 || !request.upsert)) return done;
    const update = compileUpdate(request.update);
    const { matched, modified } = done ?? this.#updateEach(table, request, update);
    if (matched > 0 || !request.upsert) return { matched, modified };
    const document = this.#upsert(name, request, update);
    return { matched: 0, modified: 0, upserted: document._id as Raw };
  }

  #updateBySql(table: Table, { filter, many, update }: UpdateRequest): Updated | undefined {
    const compiled = sqlUpdate(table, update, filter);
    return compiled && this.#queries.update(table, filter, many, compiled);
  }

  #updateEach(table: Table | undefined, { filter, many }: UpdateRequest, update: Update): Updated {
    let matched = 0;
    let modified = 0;
    const found = this.#found(table, { filter, limit: many ? 0 : 1 });
    for (const row of this.#loaded(table as Table, found)) {
      matched++;
      if (this.#change(table as Table, row, update).modified) modified++;
    }
    return { matched, modified };
  }

  /** Updates one document and returns its text, `null` if there is none. */
  modify(name: string, request: ModifyRequest): string | null {
    const update = compileUpdate(request.update);
    const table = this.#catalog.tables.get(name);
    const [row] = this.#found(table, { filter: request.filter, limit: 1 });
    if (row) {
      const { text } = this.#change(table as Table, row, update);
      return request.after ? text : row.text;
    }
    if (!request.upsert) return null;
    const document = this.#upsert(name, request, update);
    return request.after ? JSON.stringify(document) : null;
  }

  delete(name: string, filter: RawObject, many: boolean): number {
    const table = this.#catalog.tables.get(name);
    if (!table) return this.#found(table, { filter }).length;
    const keyed = getLayout(table).multikey.length > 0;
    if (many && !keyed) {
      const deleted = this.#queries.delete(table, filter);
      if (deleted !== undefined) return deleted;
    }
    let deleted = 0;
    const found = this.#found(table, { filter, limit: many ? 0 : 1 });
    for (const row of keyed ? this.#loaded(table, found) : found) {
      this.#rows.remove(table, row.rid, keyed ? parsed(row) : undefined);
      deleted++;
    }
    return deleted;
  }

  bulk(name: string, requests: BulkRequest[], ordered: boolean): BulkOutcome {
    const outcome: BulkOutcome = {
      inserted: 0,
      matched: 0,
      modified: 0,
      deleted: 0,
      upserted: [],
      errors: [],
    };
    for (let index = 0; index < requests.length; index++) {
      const refused = attempt(() => this.#bulkOne(name, requests[index] as BulkRequest, index, outcome));
      if (refused) outcome.errors.push({ ...refused, index });
      if (refused && ordered) break;
    }
    return outcome;
  }

  #bulkOne(name: string, request: BulkRequest, index: number, outcome: BulkOutcome): void {
    if (request.kind === "delete") {
      outcome.deleted += this.delete(name, request.filter, true);
    } else {
      const result = this.update(name, request);
      outcome.matched += result.matched;
      outcome.modified += result.modified;
      if (result.upserted !== undefined) outcome.upserted.push({ index, _id: result.upserted });
    }
  }

  // Find first, change afterwards: a statement must not iterate over rows that change. Of many rows, keep only ids.
  #found(table: Table | undefined, query: Query): Row[] {
    if (!table) {
      compileFilter(query.filter);
      return [];
    }
    const rows: Row[] = [];
    for (const row of this.#queries.rows(table, query))
      rows.push(query.limit === 1 ? row : { rid: row.rid, text: "" });
    return rows;
  }

  *#loaded(table: Table, rows: Row[]): Generator<Row> {
    for (const row of rows)
      yield row.text === "" ? { rid: row.rid, text: this.#queries.text(table, row.rid) } : row;
  }

  #change(table: Table, row: Row, update: Update): { modified: boolean; text: string } {
    const document = parsed(row);
    const held = this.#rows.snapshot(table, document, update.paths);
    const id = JSON.stringify(document._id);
    update.apply(document, false);
    const text = JSON.stringify(document);
    if (text === row.text) return { modified: false, text };
    if (JSON.stringify(document._id) !== id) throw fault.immutableId();
    this.#rows.update(table, row.rid, held, row.text, document, text);
    return { modified: true, text };
  }

  #upsert(name: string, { filter, newId }: UpdateRequest, update: Update): RawObject {
    const seed: RawObject = {};
    compileUpdate({ $set: findEqualities(filter) }).apply(seed, true);
    const wanted = seed._id;
    update.apply(seed, true);
    if (wanted !== undefined && JSON.stringify(seed._id) !== JSON.stringify(wanted))
      throw fault.immutableId();
    const { _id = { $: `o${newId}` }, ...rest } = seed;
    const document: RawObject = { _id, ...rest };
    this.#rows.insert(this.#schema.table(name), document);
    return document;
  }
}

/** Runs one write; returns an error that concerns only it, throws one that spoils the transaction. */
function attempt(write: () => void): WireError | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    const wire = toWire(error);
    if (wire.kind !== "server") throw error;
    return wire;
  }
}

/** Returns the values that a filter requires its paths to equal: the initial document of an upsert. */
function findEqualities(filter: RawObject): RawObject {
  const found: RawObject = {};
  for (const key of Object.keys(filter)) {
    const value = filter[key] as Raw;
    if (key === "$and")
      for (const clause of value as RawObject[]) Object.assign(found, findEqualities(clause));
    else if (key[0] === "$") continue;
    else if (!isOperators(value)) found[key] = value;
    else if (value.$eq !== undefined) found[key] = value.$eq;
    else if (Array.isArray(value.$in) && value.$in.length === 1) found[key] = value.$in[0] as Raw;
  }
  return found;
}
