import type { Document } from "mongodb";
import type { Store } from "../connection.ts";
import type { AnyModel } from "../model.ts";
import type { Blobs, InUse } from "./blobs.ts";
import { FileBlobs } from "./files.ts";
import { GridFsBlobs } from "./gridfs.ts";

/**
 * Opens the blobs of a node: GridFS next to the record on MongoDB, else files in the data directory. From then on the
 * store's collections release blobs with their last reference.
 * @param models all models whose rows reference blobs
 * @param report called with errors of releases: a sweep repeats them
 */
export async function openBlobs(
  store: Store,
  { DATA_DIR }: { DATA_DIR: string },
  models: readonly AnyModel[],
  report: (err: unknown) => void = () => {},
): Promise<Blobs> {
  const inUse = referencesIn(store, models);
  const blobs =
    store.driver === "mongodb"
      ? new GridFsBlobs(store, inUse)
      : await FileBlobs.open(DATA_DIR, inUse, store.growth);
  store.onDropped(async (tenant_id, hashes) => void (await blobs.release(tenant_id, hashes).catch(report)));
  return blobs;
}

/** Returns the function that finds which blobs the rows of all models reference, whichever services this node runs. */
function referencesIn(store: Pick<Store, "connection">, models: readonly AnyModel[]): InUse {
  const referring = models.flatMap(({ name, blobs = [], namedBlobs = [] }) =>
    [...blobs, ...namedBlobs].map((field) => ({ name, field })),
  );
  return async (tenant_id, hashes) => {
    const find = async ({ name, field }: { name: string; field: string }) => {
      const rows = await (store.connection.db as NonNullable<Store["connection"]["db"]>)
        .collection<Document>(name)
        .find({ tenant_id, [field]: { $in: hashes } }, { projection: { [field]: 1 } })
        .toArray();
      return rows.flatMap((row) => row[field] as string | string[]);
    };
    return [...new Set((await Promise.all(referring.map(find))).flat())];
  };
}
