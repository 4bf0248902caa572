import type { Config } from "../../../config.ts";
import { makeDirectory } from "../../../lib/files.ts";
import type { Store } from "../../../storage/connection.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import { EntryModel, SearchStateModel } from "./search.model.ts";

/**
 * Opens the index that `SEARCH` names; resolves when it is ready. Rejects with the reason if it cannot be used.
 *
 * @param onDeath called if the local index's thread fails
 */
export async function openIndex(
  config: Config,
  store: Store,
  onDeath: (error: Error) => void,
): Promise<SearchIndex> {
  const index = config.SEARCH === "atlas" ? await atlasIndex(store) : await localIndex(config, onDeath);
  await index.ready();
  return index;
}

async function localIndex(config: Config, onDeath: (error: Error) => void): Promise<SearchIndex> {
  const { DATA_DIR: dataDir, ERASURE_REWRITE_MB: rewriteMegabytes } = config;
  const { LocalIndex } = await import("../../../storage/search/local-index.ts");
  // On a node with MongoDB as the record nothing else creates it.
  await makeDirectory(dataDir);
  return new LocalIndex({ dataDir, onDeath, rewriteMegabytes });
}

async function atlasIndex(store: Store): Promise<SearchIndex> {
  const { AtlasIndex } = await import("../../../storage/search/atlas/atlas-index.ts");
  const parts = { entries: store.collection(EntryModel), state: store.collection(SearchStateModel) };
  // A search index can be created only on an existing collection.
  await store.ready();
  return new AtlasIndex(parts);
}
