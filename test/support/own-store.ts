import { rm } from "node:fs/promises";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { MODELS } from "../../services/models.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { openBlobs } from "../../storage/blobs/open.ts";
import { openStore, type Store } from "../../storage/connection.ts";
import { atEnd, newFolder, ownFolder } from "./own-folder.ts";

/** Opens an embedded store, or the one at `url`, until the file's tests have ended. */
export async function ownStore(url: string | null = null): Promise<Store> {
  const store = await openStore({ DATA_DIR: await ownFolder(), MONGO_URL: url });
  atEnd(() => store.close());
  return store;
}

/** Starts a broker with these services, until the file's tests have ended. */
export async function ownBroker(services: ServiceSchema[], options: object = {}): Promise<ServiceBroker> {
  const broker = new ServiceBroker({ logger: false, ...options });
  for (const service of services) broker.createService(service);
  await broker.start();
  atEnd(() => broker.stop());
  return broker;
}

export interface TemporaryStore {
  store: Store;
  blobs: Blobs;
  /** Closes it and opens it again, as a restart does. */
  reopen(): Promise<void>;
  remove(): Promise<void>;
}

/** Opens an embedded store in a new directory. */
export async function temporaryStore(): Promise<TemporaryStore> {
  const DATA_DIR = await newFolder();
  const store = await openStore({ DATA_DIR });
  const files: TemporaryStore = {
    store,
    blobs: await openBlobs(store, { DATA_DIR }, MODELS),
    reopen: async () => {
      await files.store.close();
      files.store = await openStore({ DATA_DIR });
      files.blobs = await openBlobs(files.store, { DATA_DIR }, MODELS);
    },
    remove: async () => {
      await files.store.close();
      await rm(DATA_DIR, { recursive: true });
    },
  };
  return files;
}
