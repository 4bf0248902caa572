import { type BulkWriteResult, Collection, MongoInvalidArgumentError, ObjectId } from "mongodb";
import { NotImplemented } from "../errors.ts";
import { decode, encode, fromRaw, toRaw } from "../query/codec.ts";
import type { Page, Within } from "../query/queries.ts";
import type { Key } from "../query/values.ts";
import type { Index } from "../tables/catalog.ts";
import { findLongText } from "../tables/out-of-line.ts";
import { type Packed, type PackedField, pack, toPacked } from "../tables/packed.ts";
import { SlowRead } from "../threads/channel.ts";
import type { Threads } from "../threads/threads.ts";
import type { BulkError, BulkOutcome, UpdateResult } from "../update/writes.ts";
import { Cursor, type CursorSettings, type Pages } from "./cursor.ts";
import { bulkResult } from "./driver-errors.ts";
import { checkOptions, type Document, type Options, refuseOthers, toSort } from "./options.ts";

const FETCH = 1_000;
/** A find with at most this limit, or by `_id`, does not wait for longer ones. */
const SHORT_LIMIT = 1_000;

/** How a collection stores its documents. */
export interface Storage {
  /** The field whose text is stored out of line (see out-of-line.ts). */
  outOfLine?: string | undefined;
  /** Its fields, if they are columns (see packed.ts): `_id` first, long ones last. */
  packed?: readonly PackedField[] | undefined;
}

/** MongoDB's driver collection, over the store's threads. Refuses by name what it does not implement. */
export class SqliteCollection {
  readonly collectionName: string;
  readonly dbName: string;
  readonly #threads: Threads;
  readonly #outOfLine: string | undefined;
  readonly #packed: Packed | undefined;

  constructor(dbName: string, name: string, threads: Threads, { outOfLine, packed }: Storage = {}) {
    this.#outOfLine = outOfLine;
    this.#packed = packed && toPacked(JSON.stringify(packed));
    this.dbName = dbName;
    this.collectionName = name;
    this.#threads = threads;
  }

  get namespace(): string {
    return `${this.dbName}.${this.collectionName}`;
  }

  async insertOne(document: Document, options?: Options): Promise<Document> {
    checkOptions(options);
    const [error] = await this.#insert([document], true);
    if (error) throw this.#threads.makeError(error);
    return { acknowledged: true, insertedId: document._id };
  }

  async insertMany(documents: Document[], options?: Options): Promise<Document> {
    requireSome(documents, "docs");
    const ordered = checkOptions(options).ordered !== false;
    reportInserted(documents, ordered, await this.#insert(documents, ordered));
    const insertedIds = { ...documents.map(({ _id }) => _id) };
    return { acknowledged: true, insertedCount: documents.length, insertedIds };
  }

  #insert(documents: Document[], ordered: boolean): Promise<BulkError[]> {
    const field = this.#outOfLine;
    const longTexts =
      field === undefined
        ? undefined
        : { field, texts: documents.map((document) => findLongText(document, field)) };
    const packed = this.#packed && { fields: this.#packed.text, masks: [] as number[], values: [] as Key[] };
    const texts = documents.map((document, i) => {
      const without = typeof longTexts?.texts[i] === "string" ? field : undefined;
      const whole = withId(document);
      const mask = packed && this.#packed && pack(this.#packed.fields, whole, toRaw, packed.values);
      if (mask === undefined) return encode(whole, without);
      packed?.masks.push(mask);
      return null;
    });
    return this.#write({ op: "insert", documents: texts, packed, ordered, longTexts });
  }

  async bulkWrite(operations: Document[], options?: Options): Promise<BulkWriteResult> {
    requireSome(operations, "operations");
    const ordered = checkOptions(options).ordered !== false;
    const requests = encode(operations.map(toBulkRequest));
    const outcome = await this.#write<BulkOutcome>({ op: "bulk", requests, ordered });
    return bulkResult(outcome, ordered, operations);
  }

  updateOne(filter: Document, update: unknown, options?: Options): Promise<Document> {
    return this.#update(toUpdate({ ...options, filter, update }, false));
  }

  updateMany(filter: Document, update: unknown, options?: Options): Promise<Document> {
    return this.#update(toUpdate({ ...options, filter, update }, true));
  }

  async #update(request: object): Promise<Document> {
    const { matched, modified, upserted } = await this.#write<UpdateResult>({
      op: "update",
      request: encode(request),
    });
    return {
      acknowledged: true,
      matchedCount: matched,
      modifiedCount: modified,
      upsertedCount: upserted === undefined ? 0 : 1,
      upsertedId: upserted === undefined ? null : fromRaw(upserted),
    };
  }

  deleteOne(filter: Document = {}, options?: Options): Promise<Document> {
    return this.#delete(filter, false, options);
  }

  deleteMany(filter: Document = {}, options?: Options): Promise<Document> {
    return this.#delete(filter, true, options);
  }

  async #delete(filter: Document, many: boolean, options?: Options): Promise<Document> {
    checkOptions(options);
    const deletedCount = await this.#write<number>({ op: "delete", filter: encode(filter), many });
    return { acknowledged: true, deletedCount };
  }

  async findOneAndUpdate(filter: Document, update: unknown, options: Options = {}): Promise<unknown> {
    checkOptions(options, ["projection", "includeResultMetadata"]);
    const after = options.returnDocument === "after";
    const request = encode({ ...toUpdate({ ...options, filter, update }, false), after });
    const text = await this.#write<string | null>({ op: "modify", request });
    return text === null ? null : decode(text);
  }

  find(filter: Document = {}, options?: Options): Cursor {
    const { sort, skip, limit, projection } = checkOptions(options) as CursorSettings;
    return new Cursor({ sort, skip, limit, projection }, (settings) => this.#find(filter, settings));
  }

  /**
   * Returns the first matching documents that together have no more than a number of characters as JSON, at least one,
   * and whether others were left out for their size. Only the returned ones are read. MongoDB's driver has no such
   * method.
   */
  async findWithin(filter: Document, most: number, options?: Options) {
    const request = {
      op: "findWithin",
      query: toQuery(filter, checkOptions(options) as CursorSettings),
      most,
    };
    const short = isShort(filter, options?.limit as number | undefined);
    const { documents, more } = await (short ? this.#read<Within>(request) : this.#scan<Within>(request));
    return { documents: documents.map(decode), more };
  }

  async findOne(filter: Document = {}, options?: Options): Promise<unknown> {
    const pages = await this.#find(filter, { ...(checkOptions(options) as CursorSettings), limit: 1 });
    return pages.documents[0] ?? null;
  }

  async #find(filter: Document, settings: CursorSettings): Promise<Pages> {
    const { limit, projection } = settings;
    const request = { op: "find", query: toQuery(filter, settings) };
    const short = isShort(filter, limit);
    const { documents, rest } = await (short ? this.#read<Page>(request) : this.#scan<Page>(request));
    let at = 0;
    const more = async () => {
      const rids = rest.slice(at, at + FETCH);
      at += FETCH;
      if (at >= rest.length) pages.more = undefined;
      const texts = await this.#scan<string[]>({ op: "fetch", rids, projection: encode(projection) });
      return texts.map(decode);
    };
    const pages: Pages = { documents: documents.map(decode), more: rest.length > 0 ? more : undefined };
    return pages;
  }

  async countDocuments(filter: Document = {}, options?: Options): Promise<number> {
    checkOptions(options, ["skip", "limit"]);
    return this.#scan<number>({ op: "count", filter: encode(filter) });
  }

  /**
   * Estimates the bytes of the matching documents, from a sample if there are many. MongoDB's driver has no such
   * method.
   */
  estimateBytes(filter: Document): Promise<number> {
    return this.#scan<number>({ op: "bytes", filter: encode(filter) });
  }

  async createIndex(key: Document, options?: Options): Promise<string> {
    const [name] = await this.createIndexes([{ ...options, key }]);
    return name as string;
  }

  async createIndexes(specs: { key: Document }[]): Promise<string[]> {
    return this.#write({ op: "createIndexes", indexes: specs.map(toIndex) });
  }

  #write<T>(request: object): Promise<T> {
    return this.#threads.writer.request({ ...request, collection: this.collectionName } as never);
  }

  #read<T>(request: object): Promise<T> {
    return this.#from(this.#threads.reader, request);
  }

  #scan<T>(request: object): Promise<T> {
    return this.#from(this.#threads.scanner(), request);
  }

  async #from<T>(reader: Threads["reader"], request: object): Promise<T> {
    const answer = await reader.request<T | SlowRead>({
      ...request,
      collection: this.collectionName,
    } as never);
    if (!(answer instanceof SlowRead)) return answer;
    this.#threads.onRead?.(answer.ms);
    return answer.value as T;
  }
}

refuseOthers(SqliteCollection, Collection, "collection");

function toQuery(filter: Document, { sort, skip = 0, limit = 0, projection }: CursorSettings): string {
  return encode({ filter, sort: toSort(sort), skip, limit, ...(projection ? { projection } : {}) });
}

function isShort(filter: Document, limit = 0): boolean {
  return (limit > 0 && limit <= SHORT_LIMIT) || filter._id !== undefined;
}

/** Options without effect in this store: builds are immediate, and nothing expires by itself. */
const INDEX_OPTIONS = new Set([
  ...["name", "unique", "sparse", "background", "expireAfterSeconds", "key"],
  ...["v", "hidden", "comment", "maxTimeMS", "writeConcern", "w", "j"],
]);

/**
 * Returns an index from the specification of MongoDB's `createIndexes`. Throws `NotImplemented` for any kind but
 * ascending and descending.
 */
function toIndex(spec: Options & { key: Document }): Index {
  const key = toSort(spec.key);
  for (const name of Object.keys(spec)) {
    if (!INDEX_OPTIONS.has(name) && spec[name] !== undefined)
      throw new NotImplemented(`the index option ${name}`);
  }
  const named = key.map(([path, direction]) => `${path}_${direction}`).join("_");
  return {
    name: (spec.name as string | undefined) ?? named,
    key,
    unique: Boolean(spec.unique),
    sparse: Boolean(spec.sparse),
  };
}

function requireSome(list: unknown, argument: string): void {
  if (!Array.isArray(list))
    throw new MongoInvalidArgumentError(`Argument "${argument}" must be an array of documents`);
  if (list.length === 0) throw new MongoInvalidArgumentError("Invalid BulkOperation, Batch cannot be empty");
}

/** Throws the driver's error for an insert if documents were refused. */
function reportInserted(documents: Document[], ordered: boolean, errors: BulkError[]): void {
  const [first] = errors;
  if (!first) return;
  const inserted = ordered ? first.index : documents.length - errors.length;
  const outcome: BulkOutcome = { inserted, matched: 0, modified: 0, deleted: 0, upserted: [], errors };
  const insertedIds = documents.map(({ _id }, index) => ({ index, _id }));
  bulkResult(outcome, ordered, documents, insertedIds);
}

/** Returns an operation of `bulkWrite` in the writer's form. */
function toBulkRequest(operation: Document): object {
  const [[kind, given]] = Object.entries(operation) as [[string, Document]];
  if (kind === "updateOne" || kind === "updateMany")
    return { kind: "update", ...toUpdate(given, kind === "updateMany") };
  if (kind === "deleteMany") return { kind: "delete", filter: checkOptions(given).filter };
  throw new NotImplemented(`bulkWrite of ${kind}`);
}

/** Returns an update in the writer's form; refuses, like MongoDB's driver, anything without operators. */
function toUpdate(operation: Document, many: boolean): object {
  const { filter = {}, update, upsert = false } = checkOptions(operation, ["sort"]);
  if (Array.isArray(update)) throw new NotImplemented("updates by an aggregation pipeline");
  const names = Object.keys(update as Document);
  if (names.length === 0 || !names.every((name) => name[0] === "$"))
    throw new MongoInvalidArgumentError("Update document requires atomic operators");
  return { filter, update, many, upsert, newId: upsert ? new ObjectId().toHexString() : "" };
}

/** Returns a document with `_id` first, as MongoDB's server stores it; adds a missing `_id` to the document. */
function withId(document: Document): Document {
  if (document._id === undefined) document._id = new ObjectId();
  for (const key in document) return key === "_id" ? document : { _id: document._id, ...document };
  return document;
}
