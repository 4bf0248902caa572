import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { MODELS } from "../../services/models.ts";
import type { Blobs } from "../../storage/blobs/blobs.ts";
import { openBlobs } from "../../storage/blobs/open.ts";
import { openStore, type Store } from "../../storage/connection.ts";

/** What ends with the file, last first. */
const ends: (() => unknown)[] = [];
afterAll(async () => {
  while (ends.length > 0) await ends.pop()?.();
});

/** Has something done when the file's tests have ended, before what was opened earlier is closed. */
export const atEnd = (end: () => unknown) => void ends.push(end);

const newFolder = () => mkdtemp(join(tmpdir(), "sensorium-test-"));

/** Makes a directory that is removed with all in it when the file's tests have ended. */
export async function ownFolder(): Promise<string> {
  const folder = await newFolder();
  atEnd(() => rm(folder, { recursive: true }));
  return folder;
}

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
