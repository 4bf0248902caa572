import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openStore, type Store } from "../../storage/connection.ts";
import { inCluster, type TestServer } from "./server.ts";

type Recorded = Pick<TestServer, "dataDir">;

/** How an erasure says that its data was removed: MongoDB does not rewrite files. */
export const REMOVED = inCluster() ? "deleted" : "rewritten";

/** Opens the record of a server: its embedded store, which has to be closed, or the MongoDB of its nodes. */
export async function openRecord({ dataDir }: Recorded): Promise<Store> {
  // As test/support/clustered.ts writes it.
  const file = join(dataDir, "cluster.json");
  // A server that runs alone there has none.
  const shared = inCluster() && existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : {};
  return openStore({ DATA_DIR: dataDir, ...shared });
}

/** Returns the files of the data directory, and on a cluster the collections of its database, that hold a text. */
export async function holdersOf(server: Recorded, text: string): Promise<string[]> {
  const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
  const holding = files.map(async (file) => {
    const bytes = file.isFile() ? await readFile(join(file.parentPath, file.name)).catch(() => "") : "";
    return bytes.includes(text) ? file.name : [];
  });
  return [
    ...(await Promise.all(holding)).flat(),
    ...(inCluster() ? await collectionsWith(server, text) : []),
  ];
}

async function collectionsWith(server: Recorded, text: string): Promise<string[]> {
  const store = await openRecord(server);
  try {
    const found: string[] = [];
    for (const [name, rows] of await store.collections())
      for await (const row of rows.find({}, { raw: true }))
        if ((row as unknown as Buffer).includes(text)) {
          found.push(name);
          break;
        }
    return found;
  } finally {
    await store.close();
  }
}

/** Returns the hashes of a tenant's blobs. */
export async function blobsOf(server: Recorded, tenant_id: string): Promise<string[]> {
  if (inCluster()) {
    const store = await openRecord(server);
    const rows = (await store.collections()).get("blobs");
    const held = (await rows?.find({ tenant_id, hash: { $ne: null } }).toArray()) ?? [];
    await store.close();
    return held.map(({ hash }) => hash as string).sort();
  }
  const folder = join(server.dataDir, "blobs", tenant_id);
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.flatMap((file) => (file.isFile() ? file.name : [])).sort();
}
