import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  type Filter,
  type FindOptions,
  MongoBulkWriteError,
  type UpdateFilter,
  type WriteError,
} from "mongodb";
import type { SqliteCollection } from "mongoose-sqlite";
import type { OwnedWhere, Update, Where, Write } from "./query.ts";
import { type Growth, roughSize } from "./usage/growth.ts";

/** What every stored document has. */
export interface TenantDocument {
  _id: string;
  tenant_id: string;
}

/** The same as the driver takes it, once `Where` and `Update` have checked what is asked. */
export type Row = TenantDocument & Document;

function asRows({ system }: { system: unknown }): Collection<Row> {
  return system as Collection<Row>;
}

/** Rows of another collection that belong to rows, in the order of these: `of` gives the place of each one's own. */
export interface Belonging {
  collection: { system: { collectionName: string } };
  docs: TenantDocument[];
  of: number[];
}

/** Rows of one write of many: some milliseconds of the embedded store's writer. */
const SLICE = 500;

/**
 * A collection that can only be asked on behalf of a tenant: every filter and every document gets its `tenant_id`
 * here, and there is no other way in but `system`, whose few callers a test pins by name.
 *
 * Documents are plain objects: contracts have checked what callers send, and hydrating costs more than the query.
 */
export class TenantCollection<T extends TenantDocument> {
  /** Finds across tenants: for sweeps and for look-ups by a credential that is not bound to a tenant yet. */
  readonly system: Collection<T>;

  readonly #growth: Growth | undefined;

  /** @param growth is told of what is inserted; without it nothing is counted */
  constructor(native: Collection<Row>, growth?: Growth) {
    this.system = native as unknown as Collection<T>;
    this.#growth = growth;
  }

  find(tenant_id: string, filter: Where<T>, options?: FindOptions): Promise<T[]> {
    return asRows(this).find<T>(scoped(tenant_id, filter), options).toArray();
  }

  findOne(tenant_id: string, filter: Where<T>, options?: FindOptions): Promise<T | null> {
    return asRows(this).findOne<T>(scoped(tenant_id, filter), options);
  }

  /** Whether there is one that fits. */
  async exists(tenant_id: string, filter: Where<T>): Promise<boolean> {
    return (await this.findOne(tenant_id, filter, { projection: { _id: 1 } })) !== null;
  }

  count(tenant_id: string, filter: Where<T>): Promise<number> {
    return asRows(this).countDocuments(scoped(tenant_id, filter));
  }

  /** Inserts a document that says its tenant itself. Throws the driver's duplicate-key error (code 11000). */
  async insert(doc: T): Promise<T> {
    await asRows(this).insertOne(doc as Row);
    this.#grew([doc]);
    return doc;
  }

  /**
   * Inserts, unless a first try of the same request did so under the same id: then gives the row that is there.
   * Throws the duplicate-key error when another unique field is what is taken.
   */
  async insertOnce(doc: T): Promise<T> {
    try {
      return await this.insert(doc);
    } catch (err) {
      const own = { _id: doc._id, tenant_id: doc.tenant_id };
      const there = isDuplicateKey(err) && (await asRows(this).findOne<T>(own));
      if (there) return there;
      throw err;
    }
  }

  /** Inserts each on its own; `refusedRows` tells of its error which were refused. */
  async insertMany(docs: T[]): Promise<void> {
    // Before it is known which are refused: a measurement corrects it.
    this.#grew(docs);
    await asRows(this).insertMany(docs as Row[], { ordered: false });
  }

  /**
   * Inserts each with the rows of another collection that belong to it, all in one commit: where one is refused, nothing
   * of it is written. Only on a store that `commitsTogether`. `refusedRows` tells of its error which were refused.
   */
  async insertManyWith(docs: T[], { collection, docs: documents, of }: Belonging): Promise<void> {
    const native = asRows(this) as Collection<Row> & Partial<Pick<SqliteCollection, "insertManyWith">>;
    if (!native.insertManyWith) throw new Error("this store cannot write to two collections in one commit");
    await native.insertManyWith(docs as Row[], {
      collection: collection.system.collectionName,
      documents: documents as Row[],
      of,
    });
    this.#grew(docs);
    this.#grew(documents);
  }

  /** Inserts those whose keys are not taken: what was inserted before is left as it is. */
  async insertMissing(docs: T[]): Promise<void> {
    try {
      await this.insertMany(docs);
    } catch (err) {
      if (refusedRows(err, docs.length).some(({ code }) => code !== DUPLICATE_KEY)) throw err;
    }
  }

  /** One guarded write: changes the document only if it still fits the filter. Gives it as it is after, or null. */
  update(tenant_id: string, filter: Where<T>, update: Update<T>): Promise<T | null> {
    this.#replaced(tenant_id, update);
    const options = { returnDocument: "after" } as const;
    const changes = update as UpdateFilter<Row>;
    return asRows(this).findOneAndUpdate(scoped(tenant_id, filter), changes, options) as Promise<T | null>;
  }

  /** Changes all that fit; gives how many were changed. Many are changed in slices: see `#slices`. */
  async updateMany(tenant_id: string, filter: Where<T>, update: Update<T>): Promise<number> {
    let changed = 0;
    for (const slice of await this.#slices(tenant_id, filter))
      changed += (await asRows(this).updateMany(slice, update as UpdateFilter<Row>)).modifiedCount;
    return changed;
  }

  /** Removes one; gives whether it was there. */
  async delete(tenant_id: string, filter: Where<T>): Promise<boolean> {
    return (await asRows(this).deleteOne(scoped(tenant_id, filter))).deletedCount === 1;
  }

  /** Removes all that fit; gives how many there were. Many are removed in slices: see `#slices`. */
  async deleteMany(tenant_id: string, filter: Where<T>): Promise<number> {
    let removed = 0;
    for (const slice of await this.#slices(tenant_id, filter))
      removed += (await asRows(this).deleteMany(slice)).deletedCount;
    return removed;
  }

  /**
   * A filter that fits many rows in slices, each a write of its own: the embedded store's writer commits others' writes
   * between them. What names ids is bounded by those who name them.
   */
  async #slices(tenant_id: string, filter: Where<T>): Promise<Filter<Row>[]> {
    const whole = scoped(tenant_id, filter);
    const ids = (limit: number) => this.find(tenant_id, filter, { projection: { _id: 1 }, limit });
    if ("_id" in filter || (await ids(SLICE + 1)).length <= SLICE) return [whole];
    const rows = await ids(0);
    const slices: Filter<Row>[] = [];
    for (let at = 0; at < rows.length; at += SLICE)
      slices.push({ ...whole, _id: { $in: rows.slice(at, at + SLICE).map(({ _id }) => _id) } });
    return slices;
  }

  /** Many writes in one round trip, in no order; each carries its tenant in its own filter or document. */
  bulk(writes: Write<T>[]) {
    return asRows(this).bulkWrite(writes as AnyBulkWriteOperation<Row>[], { ordered: false });
  }

  /**
   * Sets fields of rows that may not be there yet. Of two that make the same row at once MongoDB refuses one: that one is
   * tried again, and finds the row. Throws the duplicate-key error when its filter still does not fit the row that is there.
   */
  async upsert(changes: { filter: OwnedWhere<T>; update: Update<T> }[]): Promise<void> {
    const operations = changes.map((updateOne) => ({ updateOne: { ...updateOne, upsert: true } }));
    if (operations.length === 0) return;
    for (const { filter, update } of changes) this.#replaced(filter.tenant_id, update);
    try {
      await this.bulk(operations);
    } catch (err) {
      await this.bulk(takenRows(err).map(({ index }) => operations[index] as Write<T>));
    }
  }

  #grew(docs: readonly TenantDocument[]): void {
    for (const doc of docs) this.#growth?.add(doc.tenant_id, roughSize(doc));
  }

  /** Counts only what sets much: a row that is changed often and little does not grow. */
  #replaced(tenant_id: string, { $set }: Update<T>): void {
    if ($set === undefined || !this.#growth) return;
    const size = roughSize($set);
    if (size >= MUCH) this.#growth.add(tenant_id, size);
  }
}

/** Bytes that an update sets and that may make its row grow. */
const MUCH = 1024;

function scoped(tenant_id: string, filter: object): Filter<Row> {
  return { ...filter, tenant_id };
}

const DUPLICATE_KEY = 11000;

/** Whether a write failed because its key is taken: the only driver error the services tell apart. */
export function isDuplicateKey(err: unknown): boolean {
  return err instanceof Error && "code" in err && err.code === DUPLICATE_KEY;
}

/** Catches that a key is taken. */
export function nullIfTaken(err: unknown): null {
  if (isDuplicateKey(err)) return null;
  throw err;
}

/** Which of an upsert's rows were refused, where all that went wrong is that their keys are taken; else throws the error. */
export function takenRows(err: unknown): WriteError[] {
  if (!(err instanceof MongoBulkWriteError) || err.result.getWriteConcernError()) throw err;
  const refused = [err.writeErrors].flat();
  if (refused.length === 0 || refused.some(({ code }) => code !== DUPLICATE_KEY)) throw err;
  return refused;
}

/**
 * Which of an `insertMany`'s rows were refused, by its error; all others are durable. A connection that broke leaves no
 * refusals either: rows count as written only when the server has counted them.
 *
 * @throws the error itself when it is not known of every row what became of it, or the write concern was not met
 */
export function refusedRows(err: unknown, rows: number): WriteError[] {
  if (!(err instanceof MongoBulkWriteError)) throw err;
  const refused = [err.writeErrors].flat();
  if (err.result.getWriteConcernError() || err.insertedCount + refused.length < rows) throw err;
  return refused;
}
