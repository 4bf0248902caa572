import type { Collection, Document, Filter } from "mongodb";
import type { SqliteCollection } from "mongoose-sqlite";
import { roughSize } from "./usage/growth.ts";

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

/** Rows of the first batch, and the growth of those that follow while rows are small. */
const FIRST_BATCH = 8;
const BATCH_GROWTH = 8;

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
export interface EachOptions {
  filter: Filter<Document>;
  projection?: Document | undefined;
  /** Default: `PAGE_BYTES`. */
  bytes?: number;
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
  const found: Document[] = [];
  let size = 0;
  let batch = FIRST_BATCH;
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
      size += roughSize(row);
      if (size > bytes && found.length > 0) return { rows: found as T[], more: true };
      found.push(row);
    }
    const fitting = found.length ? (bytes - size) / (size / found.length) : Number.POSITIVE_INFINITY;
    batch = Math.max(1, Math.min(batch * BATCH_GROWTH, Math.ceil(fitting) || 1));
  }
  return { rows: found as T[], more: false };
}

/** Names the tenant at the top as well, where sharding and queues for connections look for it. */
const tenantIn = (filter: Filter<Document>) => ("tenant_id" in filter ? { tenant_id: filter.tenant_id } : {});
