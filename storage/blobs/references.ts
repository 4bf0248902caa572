import type { Document } from "mongodb";
import type { Store } from "../connection.ts";
import type { AnyModel } from "../model.ts";
import type { InUse } from "./blobs.ts";

/** Returns the function that finds which blobs the rows of all models reference, whichever services this node runs. */
export function referencesIn(store: Pick<Store, "connection">, models: readonly AnyModel[]): InUse {
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
