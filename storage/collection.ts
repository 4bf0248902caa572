import {
  type AnyBulkWriteOperation,
  type Collection,
  type Filter,
  type FindOptions,
  MongoBulkWriteError,
  type UpdateFilter,
  type WriteError,
} from "mongodb";
import type { SqliteCollection } from "mongoose-sqlite";
import { type Growth, roughSize } from "./usage/growth.ts";

/** What every stored document has. */
export interface TenantDocument {
  _id: string;
  tenant_id: string;
}

/** Rows of another collection that belong to rows, in the order of these: `of` gives the place of each one's own. */
export interface Belonging {
  collection: { system: { collectionName: string } };
  docs: TenantDocument[];
  of: number[];
}

/** Rows of one write of many: some milliseconds of the embedded store's writer. */
const SLICE = 500;

type Guarded<T> = Omit<Filter<T>, "tenant_id">;

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
  constructor(native: Collection<T>, growth?: Growth) {
    this.system = native;
    this.#growth = growth;
  }

  find(tenant_id: string, filter: Guarded<T>, options?: FindOptions): Promise<T[]> {
    return this.system.find(scoped<T>(tenant_id, filter), options).toArray() as Promise<T[]>;
  }

  findOne(tenant_id: string, filter: Guarded<T>, options?: FindOptions): Promise<T | null> {
    return this.system.findOne(scoped<T>(tenant_id, filter), options) as Promise<T | null>;
  }

  /** Whether there is one that fits. */
  async exists(tenant_id: string, filter: Guarded<T>): Promise<boolean> {
    return (await this.findOne(tenant_id, filter, { projection: { _id: 1 } })) !== null;
  }

  count(tenant_id: string, filter: Guarded<T>): Promise<number> {
    return this.system.countDocuments(scoped<T>(tenant_id, filter));
  }

  /** Inserts a document that says its tenant itself. Throws the driver's duplicate-key error (code 11000). */
  async insert(doc: T): Promise<T> {
    await this.system.insertOne(doc as never);
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
      const there =
        isDuplicateKey(err) && (await this.findOne(doc.tenant_id, { _id: doc._id } as unknown as Guarded<T>));
      if (there) return there;
      throw err;
    }
  }

  /** Inserts each on its own; `refusedRows` tells of its error which were refused. */
  async insertMany(docs: T[]): Promise<void> {
    // Before it is known which are refused: a measurement corrects it.
    this.#grew(docs);
    await this.system.insertMany(docs as never, { ordered: false });
  }

  /**
   * Inserts each with the rows of another collection that belong to it, all in one commit: where one is refused, nothing
   * of it is written. Only on a store that `commitsTogether`. `refusedRows` tells of its error which were refused.
   */
  async insertManyWith(docs: T[], { collection, docs: documents, of }: Belonging): Promise<void> {
    const native = this.system as unknown as Partial<SqliteCollection>;
    if (!native.insertManyWith) throw new Error("this store cannot write to two collections in one commit");
    await native.insertManyWith(docs as never, {
      collection: collection.system.collectionName,
      documents: documents as never,
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
  update(tenant_id: string, filter: Guarded<T>, update: UpdateFilter<T>): Promise<T | null> {
    this.#replaced(tenant_id, update);
    return this.system.findOneAndUpdate(scoped<T>(tenant_id, filter), update, {
      returnDocument: "after",
    }) as Promise<T | null>;
  }

  /** Changes all that fit; gives how many were changed. Many are changed in slices: see `#slices`. */
  async updateMany(tenant_id: string, filter: Guarded<T>, update: UpdateFilter<T>): Promise<number> {
    let changed = 0;
    for (const slice of await this.#slices(tenant_id, filter))
      changed += (await this.system.updateMany(slice, update)).modifiedCount;
    return changed;
  }

  /** Removes one; gives whether it was there. */
  async delete(tenant_id: string, filter: Guarded<T>): Promise<boolean> {
    return (await this.system.deleteOne(scoped<T>(tenant_id, filter))).deletedCount === 1;
  }

  /** Removes all that fit; gives how many there were. Many are removed in slices: see `#slices`. */
  async deleteMany(tenant_id: string, filter: Guarded<T>): Promise<number> {
    let removed = 0;
    for (const slice of await this.#slices(tenant_id, filter))
      removed += (await this.system.deleteMany(slice)).deletedCount;
    return removed;
  }

  /**
   * A filter that fits many rows in slices, each a write of its own: the embedded store's writer commits others' writes
   * between them. What names ids is bounded by those who name them.
   */
  async #slices(tenant_id: string, filter: Guarded<T>): Promise<Filter<T>[]> {
    const whole = scoped<T>(tenant_id, filter);
    const ids = (limit: number) => this.find(tenant_id, filter, { projection: { _id: 1 }, limit });
    if ("_id" in filter || (await ids(SLICE + 1)).length <= SLICE) return [whole];
    const rows = await ids(0);
    const slices: Filter<T>[] = [];
    for (let at = 0; at < rows.length; at += SLICE)
      slices.push({ ...whole, _id: { $in: rows.slice(at, at + SLICE).map(({ _id }) => _id) } } as Filter<T>);
    return slices;
  }

  /** Many writes in one round trip, in no order; each carries its tenant in its own filter or document. */
  bulk(operations: AnyBulkWriteOperation<T>[]) {
    return this.system.bulkWrite(operations, { ordered: false });
  }

  /**
   * Sets fields of rows that may not be there yet. Of two that make the same row at once MongoDB refuses one: that one is
   * tried again, and finds the row. Throws the duplicate-key error when its filter still does not fit the row that is there.
   */
  async upsert(changes: { filter: Filter<T>; update: UpdateFilter<T> }[]): Promise<void> {
    const operations = changes.map((updateOne) => ({ updateOne: { ...updateOne, upsert: true } }));
    if (operations.length === 0) return;
    for (const { filter, update } of changes)
      this.#replaced((filter as Partial<TenantDocument>).tenant_id, update);
    try {
      await this.bulk(operations);
    } catch (err) {
      await this.bulk(takenRows(err).map(({ index }) => operations[index] as AnyBulkWriteOperation<T>));
    }
  }

  #grew(docs: readonly TenantDocument[]): void {
    for (const doc of docs) this.#growth?.add(doc.tenant_id, roughSize(doc));
  }

  /** Counts only what sets much: a row that is changed often and little does not grow. */
  #replaced(tenant_id: string | undefined, { $set }: UpdateFilter<T>): void {
    if ($set === undefined || tenant_id === undefined || !this.#growth) return;
    const size = roughSize($set);
    if (size >= MUCH) this.#growth.add(tenant_id, size);
  }
}

/** Bytes that an update sets and that may make its row grow. */
const MUCH = 1024;

function scoped<T>(tenant_id: string, filter: object): Filter<T> {
  return { ...filter, tenant_id } as unknown as Filter<T>;
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
