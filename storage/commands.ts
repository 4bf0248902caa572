import type { Collection, Document, Filter } from "mongodb";
import type { SqliteCollection } from "mongoose-sqlite";
import type { FairQueue } from "../lib/queue/fair-queue.ts";
import { type Growth, roughSize } from "./growth.ts";
import type { Row, TenantDocument } from "./model.ts";
import type { Where } from "./query.ts";

/** Options of a read within a number of bytes. */
export interface WithinOptions {
  sort?: Record<string, 1 | -1>;
  skip?: number;
  limit?: number;
  projection?: Document;
  /** Default: `PAGE_BYTES`. */
  bytes?: number;
}

/** A list's order, and the page of it. */
export interface PageAfter<T> extends Pick<WithinOptions, "skip" | "projection"> {
  by: keyof T & string;
  sign?: 1 | -1;
  cursor?: string | undefined;
  limit: number;
}

/** The rows of a read within a number of bytes; `more`: others were left out for their size. */
export interface Within<T> {
  rows: T[];
  more: boolean;
}

/** Bytes of rows in one page of a list. */
export const PAGE_BYTES = 524_288;

/** Most rows of the first batch, and the growth of those that follow while rows are small. */
const FIRST_BATCH = 8;
const BATCH_GROWTH = 8;
/** Bytes of the largest row that was read of a collection lately: no more of them are read first than may be returned. */
const largest = new WeakMap<object, number>();
const FORGOTTEN = 1 / 20;

type Rows = Collection<Document> & Partial<Pick<SqliteCollection, "findWithin">>;

/**
 * Reads the first rows whose sizes add up to no more than `bytes`, the very first always. Few others are read: the
 * embedded store stops by itself; MongoDB orders ids alone, whose rows follow in batches.
 */
export async function readWithin<T>(
  rows: Rows,
  filter: Filter<Document>,
  { bytes = PAGE_BYTES, ...options }: WithinOptions,
): Promise<Within<T>> {
  if (rows.findWithin) {
    const { documents, more } = await rows.findWithin(filter, bytes, options);
    return { rows: documents as T[], more };
  }
  const { projection, ...order } = options;
  if (options.limit === 1) return { rows: (await rows.find(filter, options).toArray()) as T[], more: false };
  const ids = await rows.find(filter, { ...order, projection: { _id: 1 } }).toArray();
  const each = { filter, bytes, projection };
  return readEach(
    rows,
    ids.map(({ _id }) => _id),
    each,
  );
}

/** Options of a read of given ids. */
export interface EachOptions extends Pick<WithinOptions, "projection" | "bytes"> {
  filter: Filter<Document>;
}

/**
 * Reads the rows with these ids that match, in this order: the first ones whose sizes add up to no more than `bytes`.
 * The length of each batch follows from the sizes of the rows before.
 */
export async function readEach<T>(
  rows: Rows,
  ids: unknown[],
  { filter, projection, bytes = PAGE_BYTES }: EachOptions,
): Promise<Within<T>> {
  const left = [...ids];
  const documents: Document[] = [];
  let size = 0;
  const known = largest.get(rows) ?? 1;
  largest.set(rows, known * (1 - FORGOTTEN));
  let batch = Math.max(1, Math.min(FIRST_BATCH, Math.floor(bytes / known)));
  while (left.length > 0) {
    const wanted = left.splice(0, batch);
    const fields = projection && { projection };
    const read = await rows
      .find({ $and: [filter], _id: { $in: wanted as never[] }, ...tenantIn(filter) }, fields)
      .toArray();
    const byId = new Map<unknown, Document>(read.map((row) => [row._id, row]));
    for (const id of wanted) {
      const row = byId.get(id);
      // Deleted or changed meanwhile.
      if (!row) continue;
      const own = roughSize(row);
      size += own;
      if (own > (largest.get(rows) as number)) largest.set(rows, own);
      if (size > bytes && documents.length > 0) return { rows: documents as T[], more: true };
      documents.push(row);
    }
    const fitting = documents.length ? (bytes - size) / (size / documents.length) : Number.POSITIVE_INFINITY;
    batch = Math.max(1, Math.min(batch * BATCH_GROWTH, Math.ceil(fitting) || 1));
  }
  return { rows: documents as T[], more: false };
}

/** Names the tenant at the top as well, where sharding and queues for connections look for it. */
const tenantIn = (filter: Filter<Document>) => ("tenant_id" in filter ? { tenant_id: filter.tenant_id } : {});

/** Returns the collection without its writes, which would not release blobs. */
export function readOnly(native: Collection<Row>): Collection<Row> {
  return new Proxy(native, {
    get(target, name) {
      if (/^(delete|update|replace|findOneAnd|bulk)/.test(String(name)))
        throw new Error("rows that reference blobs are written by tenant");
      const member = target[name as keyof Collection<Row>];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Splits a filter by the ids of its rows. */
export function slicesOf<T>(filter: Where<T>, rows: readonly { _id: unknown }[], size: number): Where<T>[] {
  const slices: Where<T>[] = [];
  for (let at = 0; at < rows.length; at += size)
    slices.push({ ...filter, _id: { $in: rows.slice(at, at + size).map(({ _id }) => _id) } });
  return slices;
}

/** Adds the tenant to a filter. Throws without one, and for a filter that names one itself. */
export function scoped(tenant_id: string, filter: object): Filter<Row> {
  requireTenants([{ tenant_id }]);
  if ("tenant_id" in filter) throw new Error("a filter must not name a tenant: it is a parameter");
  return { ...filter, tenant_id };
}

/** Throws unless each document, or filter of a bulk write, has its tenant. The types ask for it too. */
export function requireTenants(owned: readonly { tenant_id: string }[]): void {
  for (const { tenant_id } of owned)
    if (typeof tenant_id !== "string" || tenant_id === "") throw new Error("a query needs a tenant");
}

/**
 * Returns what gives a command its connection when it is its tenant's turn, if there is a limit of them.
 * @param reserved whether the reserve is for these commands
 */
export function connectedBy(queue: FairQueue | null, reserved: boolean) {
  return <R>(tenant_id: string, command: () => Promise<R>): Promise<R> =>
    queue ? queue.run({ tenant_id, caller: "" }, 1, command, { reserved }) : command();
}

/**
 * Keeps part of the state of a collection's rows in memory for a while. Everything that reads or writes these rows,
 * except through the collection that `Store.behind` returned, passes it.
 */
export interface Front<T extends TenantDocument = TenantDocument> {
  /**
   * Sends the writes of what it keeps of rows that may match. @returns when they are durable; undefined: there are none
   */
  flush(tenant_id: string, filter: Where<T>): Promise<unknown> | undefined;
  /** Such rows are being changed; called again once they are. */
  changed(tenant_id: string, filter: Where<T>): void;
}

/** Where the front of a collection's rows is, once they have one. */
export interface FrontPlace {
  front?: Front;
}

/** Rows that a write concerns: a tenant, and a filter within it. */
type OwnedRows<T> = [tenant_id: string, filter: Where<T>];

/** Passes reads and writes by the front of their rows, if there is one by then. */
export class PastFront<T extends TenantDocument> {
  readonly #place: FrontPlace;
  readonly #wrote: () => void;

  /** @param wrote called after each write */
  constructor(wrote: () => void, place: FrontPlace = {}) {
    this.#place = place;
    this.#wrote = wrote;
  }

  /** Reads after what the front keeps of these rows. */
  read<R>(tenant_id: string, filter: Where<T>, read: () => Promise<R>): Promise<R> {
    const flushing = (this.#place.front as Front<T> | undefined)?.flush(tenant_id, filter);
    return flushing ? flushing.then(read) : read();
  }

  /** Writes after what the front keeps of these rows, and tells it of the write. */
  async write<R>(rowsOf: () => OwnedRows<T>[], write: () => Promise<R>): Promise<R> {
    const front = this.#place.front as Front<T> | undefined;
    const owned = front ? rowsOf() : [];
    for (const rows of owned) {
      // Not awaited: the store keeps the order of writes.
      void front?.flush(...rows);
      front?.changed(...rows);
    }
    try {
      return await write();
    } finally {
      for (const rows of owned) front?.changed(...rows);
      this.#wrote();
    }
  }
}

/** Returns the tenant of a document, or of the filter of a bulk write, and a filter of the same rows within it. */
export function ownerOf<T extends TenantDocument>(owned: { tenant_id: string }): OwnedRows<T> {
  const { tenant_id, ...filter } = owned;
  return [tenant_id, filter as Where<T>];
}

/** Is called with the blobs that rows of a tenant no longer reference. */
export type Dropped = (tenant_id: string, hashes: string[]) => Promise<void>;

/** Needs of a collection besides its rows. */
export interface CollectionOptions {
  /** Counts inserted bytes; without it nothing is counted. */
  growth?: Growth | undefined;
  /** The model's large fields. */
  large?: readonly string[];
  /** For the connections to a record that has a limit of them. */
  queue?: FairQueue | null;
  /** The fields that reference blobs (`Model.blobs`). */
  blobs?: { fields: readonly string[]; dropped: Dropped };
  /** Where the front of these rows is set. */
  place?: FrontPlace;
}
