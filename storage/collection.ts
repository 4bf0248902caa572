import type { AnyBulkWriteOperation, Collection, Document, Filter, FindOptions, UpdateFilter } from "mongodb";
import { afterPlace, fromCursor, pageOf } from "../lib/contract/cursor.ts";
import type { Waiting } from "../lib/queue/fair-queue.ts";
import { ALLOWANCE, answerTooLarge, countRead, inTurn, spend } from "../lib/queue/work.ts";
import { wrote } from "./activity.ts";
import {
  type CollectionOptions,
  connectedBy,
  type EachOptions,
  ownerOf,
  type PageAfter,
  PastFront,
  readEach,
  readOnly,
  readWithin,
  requireTenants,
  scoped,
  slicesOf,
  type Within,
  type WithinOptions,
} from "./commands.ts";
import { type Growth, roughSize } from "./growth.ts";
import type { Row, TenantDocument } from "./model.ts";
import type { FindArgs, OwnedWhere, SystemCollection, Update, Where, Write } from "./query.ts";
import { DUPLICATE_KEY, isDuplicateKey, refusedRows, takenRows } from "./write-errors.ts";

export type { Row, TenantDocument } from "./model.ts";

/** Inserting so many rows takes about a millisecond. */
const ROWS_PER_MS = 20;
/** Rows per slice of a bulk write: some milliseconds of the embedded store's writer. */
const SLICE = 500;

/**
 * A collection that is always accessed on behalf of a tenant: every filter gets its `tenant_id` here, a document or a
 * bulk write without one is refused, and the only other access is `system`, whose few callers a test lists by name.
 *
 * It uses the native collection of the model's connection: see docs/decisions/0037-native-collections.md.
 */
export class TenantCollection<T extends TenantDocument> {
  /** Accesses all tenants: for sweeps and for look-ups by a credential that is not bound to a tenant yet. */
  readonly system: SystemCollection<T>;
  /** The same rows, by reserved connections: for what frees capacity (acknowledgements) or keeps work alive (renewals). */
  readonly reserved: TenantCollection<T>;
  readonly name: string;
  readonly #growth: Growth | undefined;
  readonly #rows: Collection<Row>;
  readonly #connected: ReturnType<typeof connectedBy>;
  readonly #blobs: CollectionOptions["blobs"];
  readonly #large: readonly string[];
  readonly #past: PastFront<T>;

  constructor(native: Collection<Row>, options: CollectionOptions = {}, isReserved = false) {
    const { growth, queue = null, blobs, large = [], place } = options;
    this.#rows = native;
    this.name = native.collectionName;
    this.#connected = connectedBy(queue, isReserved);
    this.reserved = queue && !isReserved ? new TenantCollection(native, options, true) : this;
    this.system = (blobs ? readOnly(native) : native) as unknown as SystemCollection<T>;
    this.#growth = growth;
    this.#blobs = blobs;
    this.#large = large;
    this.#past = new PastFront(() => wrote(this.name), place);
  }

  /** Writes documents, or what filters select, of a tenant. */
  #put<R>(owned: readonly { tenant_id: string }[], write: () => Promise<R>): Promise<R> {
    const inTurn = () => this.#connected(owned[0]?.tenant_id ?? "", write);
    return this.#past.write(() => owned.map(ownerOf<T>), inTurn);
  }

  #command<R>(tenant_id: string, filter: object, command: (filter: Filter<Row>) => Promise<R>): Promise<R> {
    const whole = scoped(tenant_id, filter);
    const inTurn = () => this.#connected(tenant_id, () => command(whole));
    return this.#past.write(() => [[tenant_id, filter as Where<T>]], inTurn);
  }

  /** Reads, or writes much, in the turn of the current call. */
  #inTurn<R>(tenant_id: string, command: () => Promise<R>, how?: Waiting): Promise<R> {
    return inTurn(() => this.#connected(tenant_id, command), how);
  }

  #read<R>(tenant_id: string, filter: Where<T>, read: (own: Filter<Row>) => Promise<R>): Promise<R> {
    const own = scoped(tenant_id, filter);
    return this.#past.read(tenant_id, filter, () => this.#inTurn(tenant_id, () => read(own)));
  }

  /** Returns the documents that match. The types, and a check, refuse a read of large fields without a limit. */
  async find(tenant_id: string, filter: Where<T>, ...[given]: FindArgs<T>): Promise<T[]> {
    const { bounded, ...options } = (given ?? {}) as FindOptions & { bounded?: string };
    if (bounded !== undefined) return this.#whole(tenant_id, filter, options);
    this.#requireBrief(options.projection);
    return this.#read(tenant_id, filter, (own) => this.#rows.find<T>(own, options).toArray());
  }

  /** Large rows may all be needed, but never more than one call may read. */
  async #whole(tenant_id: string, filter: Where<T>, options: FindOptions): Promise<T[]> {
    const within = { ...(options as WithinOptions), bytes: ALLOWANCE };
    const { rows, more } = await this.findWithin(tenant_id, filter, within);
    if (more) throw answerTooLarge();
    return rows;
  }

  #requireBrief(projection: Document = {}): void {
    const names = Object.values(projection).some(Boolean);
    const brief = this.#large.every((field) => (names ? !projection[field] : field in projection));
    if (!brief) throw new Error(`a read of several rows needs a limit for ${this.#large.join(", ")}`);
  }

  /** Returns and reads only the first documents that match, up to `bytes` in all, and always the very first. */
  async findWithin(tenant_id: string, filter: Where<T>, options: WithinOptions): Promise<Within<T>> {
    const rows = await this.#read(tenant_id, filter, (own) =>
      readWithin<T>(this.#rows as never, own as never, options),
    );
    this.#count(rows.rows);
    return rows;
  }

  /** Yields all documents that match, by their ids, in batches of `findWithin`, none empty; they may be deleted meanwhile. */
  async *batches(tenant_id: string, filter: Where<T>, options: WithinOptions = {}): AsyncGenerator<T[]> {
    for (let wanted = filter; ; ) {
      const { rows, more } = await this.findWithin(tenant_id, wanted, { ...options, sort: { _id: 1 } });
      if (rows.length > 0) yield rows;
      if (!more && rows.length < (options.limit ?? Number.POSITIVE_INFINITY)) return;
      const behind = { _id: { $gt: rows.at(-1)?._id } };
      wanted = { ...filter, $and: [...(filter.$and ?? []), behind] } as Where<T>;
    }
  }

  /** Returns the documents with these ids, in this order, up to `bytes` as `findWithin` does. */
  async findEach(
    tenant_id: string,
    ids: readonly string[],
    { filter = {}, ...options }: { filter?: Where<T> } & Omit<EachOptions, "filter"> = {},
  ): Promise<T[]> {
    const { rows } = await this.#read(tenant_id, filter, (own) =>
      readEach<T>(this.#rows as never, [...ids], { ...options, filter: own as never }),
    );
    this.#count(rows);
    return rows;
  }

  /** Counts large rows for the call that reads them. */
  #count(rows: readonly T[]): void {
    if (this.#large.length > 0) for (const row of rows) countRead(roughSize(row));
  }

  /** `findWithin` across tenants, for sweeps. */
  findAnyWithin(filter: Filter<T>, options: WithinOptions): Promise<Within<T>> {
    return readWithin<T>(this.system as never, filter as never, options);
  }

  async findOne(tenant_id: string, filter: Where<T>, options?: FindOptions): Promise<T | null> {
    const row = await this.#read(tenant_id, filter, (own) => this.#rows.findOne<T>(own, options));
    if (row && !options?.projection) this.#count([row]);
    return row;
  }

  /**
   * Returns one page of the documents that match, 50 by default, and how many match in all. A page ends after
   * `PAGE_BYTES`, so that it may be shorter than `limit` before the last.
   */
  async page(
    tenant_id: string,
    filter: Where<T>,
    sort: WithinOptions["sort"],
    {
      offset = 0,
      limit = 50,
      ...given
    }: { offset?: number; limit?: number } & Omit<WithinOptions, "skip" | "sort">,
  ): Promise<{ rows: T[]; total: number }> {
    const { bytes, projection } = given;
    const options = { sort, skip: offset, limit, bytes, projection } as WithinOptions;
    const [{ rows }, total] = await Promise.all([
      this.findWithin(tenant_id, filter, options),
      this.count(tenant_id, filter),
    ]);
    return { rows, total };
  }

  /**
   * Returns the page of a sorted list behind a cursor, newest first by default, and the cursor of the next page.
   * @throws Fault validation_failed for a cursor of another list
   */
  async pageAfter(
    tenant_id: string,
    filter: Where<T>,
    { by, sign = -1, cursor, limit, ...options }: PageAfter<T>,
  ): Promise<{ page: T[]; next_cursor: string | null }> {
    const behind = cursor === undefined ? [] : [afterPlace(fromCursor(cursor, by), { by, sign })];
    // Flat conditions stay flat: only they use a compound index.
    const wanted = { ...filter, ...(behind.length && { $and: [...(filter.$and ?? []), ...behind] }) };
    const page = { ...options, sort: { [by]: sign, _id: sign }, limit: limit + 1 };
    const rows = await this.findWithin(tenant_id, wanted as Where<T>, page);
    return pageOf(rows, limit, by);
  }

  /** Whether any document matches. */
  async exists(tenant_id: string, filter: Where<T>): Promise<boolean> {
    return (await this.findOne(tenant_id, filter, { projection: { _id: 1 } })) !== null;
  }

  count(tenant_id: string, filter: Where<T>): Promise<number> {
    return this.#read(tenant_id, filter, (own) => this.#rows.countDocuments(own));
  }

  /** Inserts a document, which includes its tenant. Throws the driver's duplicate-key error (code 11000). */
  async insert(doc: T): Promise<T> {
    requireTenants([doc]);
    await this.#put([doc], () => this.#rows.insertOne(doc as Row));
    this.#grew([doc]);
    return doc;
  }

  /**
   * Inserts, unless an earlier attempt of the same request did so under the same id: then returns the existing row.
   * Throws the duplicate-key error for a conflict on another unique field.
   */
  async insertOnce(doc: T): Promise<T> {
    try {
      return await this.insert(doc);
    } catch (err) {
      const own = { _id: doc._id } as Where<T>;
      const there = isDuplicateKey(err) && (await this.findOne(doc.tenant_id, own));
      if (there) return there;
      throw err;
    }
  }

  /** Inserts each document on its own; `refusedRows` extracts the refused ones from the error. */
  async insertMany(docs: T[]): Promise<void> {
    requireTenants(docs);
    // Before refusals are known: a measurement corrects it.
    this.#grew(docs);
    spend(docs.length / ROWS_PER_MS);
    const insert = () => this.#rows.insertMany(docs as Row[], { ordered: false });
    // Others may be written already.
    const inTurn = () => this.#inTurn(docs[0]?.tenant_id as string, insert, { queued: 0 });
    if (docs.length > 0) await this.#past.write(() => docs.map(ownerOf<T>), inTurn);
  }

  /** Inserts documents whose keys are new; leaves existing ones unchanged. */
  async insertMissing(docs: T[]): Promise<void> {
    try {
      await this.insertMany(docs);
    } catch (err) {
      if (refusedRows(err, docs.length).some(({ code }) => code !== DUPLICATE_KEY)) throw err;
    }
  }

  /**
   * Updates the document in one guarded write, only if it still matches the filter. Returns the new state, or null.
   * Releases blobs whose reference it replaces: a filter that names the reference saves a read.
   */
  async update(tenant_id: string, filter: Where<T>, update: Update<T>): Promise<T | null> {
    this.#replaced(tenant_id, update);
    const options = { returnDocument: "after" } as const;
    const changes = update as UpdateFilter<Row>;
    const referenced = await this.#referenced(tenant_id, filter, update);
    const written = await this.#command(tenant_id, filter, (own) =>
      this.#rows.findOneAndUpdate(own, changes, options),
    );
    if (written) await this.#dropped(tenant_id, referenced);
    return written as T | null;
  }

  /** Updates all that match; returns how many were changed. Large updates are split: see `#slices`. */
  async updateMany(tenant_id: string, filter: Where<T>, update: Update<T>): Promise<number> {
    let changed = 0;
    for (const slice of await this.#slices(tenant_id, filter)) {
      const referenced = await this.#referenced(tenant_id, slice, update);
      const write = (own: Filter<Row>) => this.#rows.updateMany(own, update as UpdateFilter<Row>);
      changed += (await this.#command(tenant_id, slice, write)).modifiedCount;
      await this.#dropped(tenant_id, referenced);
    }
    return changed;
  }

  async delete(tenant_id: string, filter: Where<T>): Promise<boolean> {
    const referenced = await this.#referenced(tenant_id, filter);
    const { deletedCount } = await this.#command(tenant_id, filter, (own) => this.#rows.deleteOne(own));
    await this.#dropped(tenant_id, referenced);
    return deletedCount === 1;
  }

  /** Deletes all that match; returns how many there were. Large deletes are split: see `#slices`. */
  async deleteMany(tenant_id: string, filter: Where<T>): Promise<number> {
    let removed = 0;
    for (const slice of await this.#slices(tenant_id, filter)) {
      const referenced = await this.#referenced(tenant_id, slice);
      const { deletedCount } = await this.#command(tenant_id, slice, (own) => this.#rows.deleteMany(own));
      removed += deletedCount;
      await this.#dropped(tenant_id, referenced);
    }
    return removed;
  }

  /**
   * Returns the blobs that matching rows reference and that a write removes. One that a concurrent write sets in between
   * is left to the sweep. @param update without it the rows are deleted
   */
  async #referenced(tenant_id: string, filter: object, update?: Update<T>): Promise<string[]> {
    const changed = { ...update?.$set, ...update?.$unset };
    const fields = this.#blobs?.fields.filter((field) => !update || field in changed) ?? [];
    if (fields.length === 0) return [];
    const known = filter as Record<string, unknown>;
    const isNamed = fields.every((field) => known[field] === null || typeof known[field] === "string");
    const projection = Object.fromEntries(fields.map((field) => [field, 1]));
    const rows: Row[] = isNamed
      ? [known as Row]
      : await this.#command(tenant_id, filter, (own) => this.#rows.find<Row>(own, { projection }).toArray());
    return rows.flatMap((row) => fields.flatMap((field) => row[field] || []));
  }

  async #dropped(tenant_id: string, hashes: string[]): Promise<void> {
    if (hashes.length) await this.#blobs?.dropped(tenant_id, hashes);
  }

  /**
   * Splits a filter that matches many rows into slices, each a separate write: the embedded store's writer commits
   * other writes in between. Callers limit filters by id themselves.
   */
  async #slices(tenant_id: string, filter: Where<T>): Promise<Where<T>[]> {
    const ids = (limit: number) =>
      this.#command(tenant_id, filter, (own) =>
        this.#rows.find(own, { projection: { _id: 1 }, limit }).toArray(),
      );
    if ("_id" in filter) return [filter];
    if ((await this.#past.read(tenant_id, filter, () => ids(SLICE + 1))).length <= SLICE) return [filter];
    return slicesOf(filter, await ids(0), SLICE);
  }

  /** Sends many writes in one round trip, in no order; each includes its tenant in its filter or document. */
  async bulk(writes: Write<T>[]) {
    if (this.#blobs) throw new Error("a bulk write would not release blobs: update rows one by one");
    return this.#bulk(writes);
  }

  #bulk(writes: Write<T>[]) {
    const owned = writes.flatMap((write) => Object.values(write).map(({ filter }) => filter));
    requireTenants(owned);
    const options = { ordered: false };
    return this.#put(owned, () => this.#rows.bulkWrite(writes as AnyBulkWriteOperation<Row>[], options));
  }

  /**
   * Updates rows or creates missing ones. If two create the same row at once, MongoDB refuses one, which is retried and
   * finds the row. Throws the duplicate-key error if its filter still does not match the existing row.
   */
  async upsert(changes: { filter: OwnedWhere<T>; update: Update<T> }[]): Promise<void> {
    const operations = changes.map((updateOne) => ({ updateOne: { ...updateOne, upsert: true } }));
    if (operations.length === 0) return;
    for (const { filter, update } of changes) this.#replaced(filter.tenant_id, update);
    const dropped = await Promise.all(
      changes.map(async ({ filter: { tenant_id, ...filter }, update }) => ({
        tenant_id,
        hashes: await this.#referenced(tenant_id, filter, update),
      })),
    );
    try {
      await this.#bulk(operations);
    } catch (err) {
      await this.#bulk(takenRows(err).map(({ index }) => operations[index] as Write<T>));
    }
    for (const { tenant_id, hashes } of dropped) await this.#dropped(tenant_id, hashes);
  }

  #grew(docs: readonly TenantDocument[]): void {
    for (const doc of docs) this.#growth?.add(doc.tenant_id, roughSize(doc));
  }

  /** Counts only large updates: a row with frequent small changes does not grow. */
  #replaced(tenant_id: string, { $set }: Update<T>): void {
    if ($set === undefined || !this.#growth) return;
    const size = roughSize($set);
    if (size >= MUCH) this.#growth.add(tenant_id, size);
  }
}

const MUCH = 1024; // Bytes above which an update may make its row grow.
