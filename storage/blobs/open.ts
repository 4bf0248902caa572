import type { Store } from "../connection.ts";
import type { Blobs } from "./blobs.ts";
import { FileBlobs } from "./files.ts";
import { GridFsBlobs } from "./gridfs.ts";

/** Opens the blobs of a node: GridFS next to the record on MongoDB, else files in the data directory. */
export function openBlobs(store: Store, { DATA_DIR }: { DATA_DIR: string }): Promise<Blobs> | Blobs {
  return store.driver === "mongodb" ? new GridFsBlobs(store) : FileBlobs.open(DATA_DIR, store.growth);
}
