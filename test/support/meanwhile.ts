import type { Store } from "../../storage/connection.ts";
import { openRecord } from "./record.ts";
import type { TestServer } from "./server.ts";

/** Changes what is stored while the service is away: how a test lets time pass. */
export async function meanwhile(
  server: TestServer,
  change: (store: Store) => Promise<unknown>,
): Promise<void> {
  await server.end();
  const store = await openRecord(server);
  await change(store).finally(() => store.close());
  await server.restart();
}
