import type { Collection } from "mongodb";
import type { SqliteCollection } from "mongoose-sqlite";
import type { Store } from "../connection.ts";
import { roughSize } from "./growth.ts";

/** Collections without a tenant's rows, or with statistics of it: blobs are measured by their files. */
const NOT_COUNTED = new Set(["tenants", "storage_usage", "traffic", "blobs", "blobs.files", "blobs.chunks"]);
/** Sample size for a server that cannot measure rows. */
const SAMPLE = 100;

/** Returns the approximate size of a tenant's rows in bytes, without indexes. */
export async function rowBytes(store: Store, tenant_id: string): Promise<number> {
  let bytes = 0;
  for (const [name, collection] of await store.collections()) {
    if (NOT_COUNTED.has(name)) continue;
    const embedded = collection as Collection & Partial<Pick<SqliteCollection, "estimateBytes">>;
    bytes += await (embedded.estimateBytes?.({ tenant_id }) ?? bytesIn(collection, tenant_id));
  }
  return bytes;
}

async function bytesIn(collection: Collection, tenant_id: string): Promise<number> {
  const own = { $match: { tenant_id } };
  const sum = { $group: { _id: null, bytes: { $sum: { $bsonSize: "$$ROOT" } } } };
  try {
    const [row] = await collection.aggregate<{ bytes: number }>([own, sum]).toArray();
    return row?.bytes ?? 0;
  } catch (err) {
    if (!/\$bsonSize/.test((err as Error).message)) throw err;
    return sampled(collection, tenant_id);
  }
}

async function sampled(collection: Collection, tenant_id: string): Promise<number> {
  const rows = await collection.find({ tenant_id }).limit(SAMPLE).toArray();
  if (rows.length < SAMPLE) return roughSize(rows);
  return ((await collection.countDocuments({ tenant_id })) * roughSize(rows)) / rows.length;
}
