import { openStore, type Store } from "../../storage/connection.ts";
import type { TestServer } from "./server.ts";

/** Changes what is stored while the service is away: how a test lets time pass. For a server that runs alone. */
export async function meanwhile(
  server: TestServer,
  change: (store: Store) => Promise<unknown>,
): Promise<void> {
  await server.end();
  const store = await openStore({ DATA_DIR: server.dataDir });
  await change(store);
  await store.close();
  await server.restart();
}
