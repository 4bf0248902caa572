import { type BulkWriteResult, MongoInvalidArgumentError, ObjectId } from "mongodb";
import { NotImplemented } from "../errors.ts";
import { decode, encode, fromRaw } from "../query/codec.ts";
import type { Page } from "../query/query.ts";
import type { Raw } from "../query/values.ts";
import { apartText } from "../tables/apart.ts";
import type { Index } from "../tables/catalog.ts";
import { indexOf } from "../tables/index-spec.ts";
import type { Belonging } from "../threads/protocol.ts";
import type { Threads } from "../threads/threads.ts";
import { bulkOf, withId } from "../update/bulk.ts";
import { replacementOf, updateOf } from "../update/change.ts";
import type { BulkError, BulkOutcome, UpdateResult } from "../update/writes.ts";
import { Cursor, type CursorSettings, type Pages } from "./cursor.ts";
import { bulkResult } from "./driver-errors.ts";
import { checkOptions, type Options, sortOf } from "./options.ts";

type Document = Record<string, unknown>;

/** Documents of another collection, in the order of their owners; `of` holds the position of each owner. */
type Others = { collection: string; documents: Document[]; of: number[] };

const FETCH = 1_000;
/** A find with at most this limit, or by `_id`, does not wait for longer ones. */
const SHORT_LIMIT = 1_000;

/** MongoDB's driver collection, over the store's threads. Refuses by name what it does not implement. */
export class SqliteCollection {
  readonly collectionName: string;
  readonly dbName: string;
  readonly #threads: Threads;
  /** The field whose text is stored out of line. */
  readonly #apart: string | undefined;

  constructor(dbName: string, name: string, threads: Threads, apart?: string) {
    this.#apart = apart;
    this.dbName = dbName;
    this.collectionName = name;
    this.#threads = threads;
  }

  get namespace(): string {
    return `${this.dbName}.${this.collectionName}`;
  }

  async insertOne(
    document: Document,
    options?: Options,
  ): Promise<{ acknowledged: true; insertedId: unknown }> {
    checkOptions(options);
    const errors = await this.#insert([document], true);
    if (errors[0]) throw this.#threads.makeError(errors[0]);
    return { acknowledged: true, insertedId: document._id };
  }

  async insertMany(documents: Document[], options?: Options): Promise<Document> {
    if (!Array.isArray(documents))
      throw new MongoInvalidArgumentError('Argument "docs" must be an array of documents');
    if (documents.length === 0)
      throw new MongoInvalidArgumentError("Invalid BulkOperation, Batch cannot be empty");
    const ordered = checkOptions(options).ordered !== false;
    return this.#inserted(documents, ordered, await this.#insert(documents, ordered));
  }

  /**
   * Like an unordered `insertMany`, but commits each document together with its dependants in another collection, or
   * neither. MongoDB's driver has no such method.
   */
  async insertManyWith(documents: Document[], { collection, documents: theirs, of }: Others): Promise<void> {
    const belonging = { collection, documents: theirs.map((each) => encode(withId(each))), of };
    const errors = await this.#insert(documents, false, belonging);
    if (errors.length > 0) this.#inserted(documents, false, errors);
  }

  #inserted(documents: Document[], ordered: boolean, errors: BulkError[]): Document {
    const ids = documents.map((document) => document._id);
    if (errors[0]) {
      const inserted = ordered ? errors[0].index : documents.length - errors.length;
      const outcome: BulkOutcome = { inserted, matched: 0, modified: 0, deleted: 0, upserted: [], errors };
      const places = ids.map((_id, index) => ({ index, _id }));
      // throws
      bulkResult(outcome, places, ordered, documents);
    }
    return { acknowledged: true, insertedCount: documents.length, insertedIds: { ...ids } };
  }

  #insert(documents: Document[], ordered: boolean, belonging?: Belonging): Promise<BulkError[]> {
    const field = this.#apart;
    const also = belonging && { belonging };
    if (field === undefined) {
      const texts = documents.map((each) => encode(withId(each)));
      return this.#write({ op: "insert", documents: texts, ordered, ...also });
    }
    const apart = { field, texts: documents.map((each) => apartText(each, field)) };
    const texts = documents.map((each, i) =>
      encode(withId(each), apart.texts[i] === null ? undefined : field),
    );
    return this.#write({ op: "insert", documents: texts, ordered, apart, ...also });
  }

  async bulkWrite(operations: Document[], options?: Options): Promise<BulkWriteResult> {
    if (!Array.isArray(operations))
      throw new MongoInvalidArgumentError('Argument "operations" must be an array of documents');
    if (operations.length === 0)
      throw new MongoInvalidArgumentError("Invalid BulkOperation, Batch cannot be empty");
    const ordered = checkOptions(options).ordered !== false;
    const { requests, insertedIds } = bulkOf(operations);
    const outcome = await this.#write<BulkOutcome>({ op: "bulk", requests: encode(requests), ordered });
    return bulkResult(outcome, insertedIds, ordered, operations);
  }

  updateOne(filter: Document, update: unknown, options?: Options): Promise<Document> {
    return this.#update(filter, { update: updateOf(update) }, false, options);
  }

  updateMany(filter: Document, update: unknown, options?: Options): Promise<Document> {
    return this.#update(filter, { update: updateOf(update) }, true, options);
  }

  replaceOne(filter: Document, replacement: unknown, options?: Options): Promise<Document> {
    return this.#update(filter, { replacement: replacementOf(replacement) }, false, options);
  }

  async #update(filter: Document, change: object, many: boolean, options?: Options): Promise<Document> {
    const { upsert = false, sort } = checkOptions(options);
    const request = encode({
      ...change,
      filter,
      many,
      upsert,
      sort: sortOf(sort),
      newId: new ObjectId().toHexString(),
    });
    const result = await this.#write<UpdateResult>({ op: "update", request });
    const upsertedId = result.upserted === undefined ? null : fromRaw(result.upserted);
    return {
      acknowledged: true,
      matchedCount: result.matched,
      modifiedCount: result.modified,
      upsertedCount: upsertedId === null ? 0 : 1,
      upsertedId,
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
    return {
      acknowledged: true,
      deletedCount: await this.#write<number>({ op: "delete", filter: encode(filter), many }),
    };
  }

  findOneAndUpdate(filter: Document, update: unknown, options?: Options): Promise<unknown> {
    return this.#modify(filter, { update: updateOf(update) }, options);
  }

  findOneAndReplace(filter: Document, replacement: unknown, options?: Options): Promise<unknown> {
    return this.#modify(filter, { replacement: replacementOf(replacement) }, options);
  }

  findOneAndDelete(filter: Document, options?: Options): Promise<unknown> {
    return this.#modify(filter, { remove: true }, options);
  }

  async #modify(filter: Document, change: object, options?: Options): Promise<unknown> {
    const { upsert = false, sort, projection, returnDocument, includeResultMetadata } = checkOptions(options);
    if (includeResultMetadata) throw new NotImplemented("the option includeResultMetadata");
    const request = encode({
      ...change,
      filter,
      sort: sortOf(sort),
      ...(projection ? { projection } : {}),
      upsert,
      after: returnDocument === "after",
      newId: new ObjectId().toHexString(),
    });
    const text = await this.#write<string | null>({ op: "modify", request });
    return text === null ? null : decode(text);
  }

  find(filter: Document = {}, options?: Options): Cursor {
    const { sort, skip, limit, projection } = checkOptions(options) as CursorSettings;
    return new Cursor({ sort, skip, limit, projection } as CursorSettings, (settings) =>
      this.#find(filter, settings),
    );
  }

  async findOne(filter: Document = {}, options?: Options): Promise<unknown> {
    const pages = await this.#find(filter, { ...(checkOptions(options) as CursorSettings), limit: 1 });
    return pages.documents[0] ?? null;
  }

  async #find(filter: Document, settings: CursorSettings): Promise<Pages> {
    const request = { op: "find", query: encode(queryOf(filter, settings)) };
    const limit = Math.abs(settings.limit ?? 0);
    const short = (limit > 0 && limit <= SHORT_LIMIT) || filter._id !== undefined;
    const { documents, rest } = await (short ? this.#read<Page>(request) : this.#scan<Page>(request));
    let at = 0;
    const more = async () => {
      const rids = rest.slice(at, at + FETCH);
      at += FETCH;
      if (at >= rest.length) pages.more = undefined;
      const texts = await this.#scan<string[]>({
        op: "fetch",
        rids,
        projection: encode(settings.projection),
      });
      return texts.map(decode);
    };
    const pages: Pages = { documents: documents.map(decode), more: rest.length > 0 ? more : undefined };
    return pages;
  }

  async countDocuments(filter: Document = {}, options?: Options): Promise<number> {
    const query = encode(queryOf(filter, checkOptions(options) as CursorSettings));
    return this.#scan<number>({ op: "count", query });
  }

  /**
   * Estimates the bytes of the matching documents, from a sample if there are many. MongoDB's driver has no such
   * method.
   */
  bytesOf(filter: Options): Promise<number> {
    return this.#scan<number>({ op: "bytes", filter: encode(filter) });
  }

  async estimatedDocumentCount(): Promise<number> {
    return this.countDocuments();
  }

  async distinct(path: string, filter: Document = {}, options?: Options): Promise<unknown> {
    checkOptions(options);
    return decode(await this.#scan<string>({ op: "distinct", path, filter: encode(filter) }));
  }

  aggregate(pipeline: Document[] = [], options?: Options): Cursor {
    checkOptions(options);
    return new Cursor({}, async () => {
      const texts = await this.#scan<string[]>({ op: "aggregate", pipeline: encode(pipeline) });
      return { documents: texts.map(decode), more: undefined };
    });
  }

  async createIndex(keys: unknown, options?: Options): Promise<string> {
    const [name] = await this.#createIndexes([indexOf(keys, options)]);
    return name as string;
  }

  async createIndexes(specs: { key: unknown }[]): Promise<string[]> {
    return this.#createIndexes(specs.map((spec) => indexOf(spec.key, spec as Options)));
  }

  #createIndexes(indexes: Index[]): Promise<string[]> {
    return this.#write({ op: "createIndexes", indexes });
  }

  async dropIndex(name: string): Promise<Document> {
    await this.#write({ op: "dropIndex", name });
    return { ok: 1 };
  }

  async dropIndexes(): Promise<boolean> {
    for (const { name } of await this.indexes()) if (name !== "_id_") await this.dropIndex(name as string);
    return true;
  }

  async indexes(): Promise<Document[]> {
    const found = await this.#read<Raw[] | undefined>({ op: "indexes" });
    return (found ?? []).map((index) => fromRaw(index) as Document);
  }

  listIndexes(): Cursor {
    return new Cursor({}, async () => ({ documents: await this.indexes(), more: undefined }));
  }

  async indexExists(names: string | string[]): Promise<boolean> {
    const held = new Set((await this.indexes()).map((index) => index.name));
    return [names].flat().every((name) => held.has(name));
  }

  async drop(): Promise<boolean> {
    return this.#write({ op: "drop" });
  }

  #write<T>(request: object): Promise<T> {
    return this.#threads.writer.request({ ...request, collection: this.collectionName } as never);
  }

  #read<T>(request: object): Promise<T> {
    return this.#threads.reader.request({ ...request, collection: this.collectionName } as never);
  }

  #scan<T>(request: object): Promise<T> {
    return this.#threads.scanner().request({ ...request, collection: this.collectionName } as never);
  }
}

function queryOf(filter: Document, settings: CursorSettings): object {
  const { sort, skip = 0, limit = 0, projection } = settings;
  return { filter, sort: sortOf(sort), skip, limit: Math.abs(limit), ...(projection ? { projection } : {}) };
}

for (const name of [
  "watch",
  "rename",
  "isCapped",
  "indexInformation",
  "initializeUnorderedBulkOp",
  "initializeOrderedBulkOp",
  "count",
  "listSearchIndexes",
  "createSearchIndex",
  "createSearchIndexes",
  "dropSearchIndex",
  "updateSearchIndex",
]) {
  Object.defineProperty(SqliteCollection.prototype, name, {
    value: () => {
      throw new NotImplemented(`collection.${name}`);
    },
  });
}
