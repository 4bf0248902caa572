import { startAlone } from "./alone.ts";
import { startMongo } from "./mongo.ts";
import { atEnd } from "./own-folder.ts";
import { type ServerOptions, startServer, type TestServer } from "./server.ts";
import { startShared } from "./shared.ts";

/** Has something closed when the file's tests have ended, before what was opened earlier. */
export function use<T extends AsyncDisposable>(opened: T): T {
  atEnd(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** As `startServer`, for the whole test file. */
export const useServer = async (options?: ServerOptions): Promise<TestServer> =>
  use(await startServer(options));

/** As `startAlone`, for the whole test file. */
export const useAlone = async (options: ServerOptions): Promise<TestServer> => use(await startAlone(options));

/** As `startShared`, for the whole test file. */
export const useShared = async (...kind: Parameters<typeof startShared>): Promise<TestServer> =>
  use(await startShared(...kind));

/** As `startMongo`, for the whole test file. */
export async function useMongo(): ReturnType<typeof startMongo> {
  const mongo = await startMongo();
  if ("url" in mongo) atEnd(mongo.stop);
  return mongo;
}
