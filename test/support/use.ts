import { afterAll } from "@jest/globals";
import { type ServerOptions, startServer, type TestServer } from "./server.ts";
import { startShared } from "./shared.ts";

/** Resources to stop when the test file ends. */
function untilTheEnd<T extends Pick<TestServer, "stop">>(server: T): T {
  afterAll(() => server.stop());
  return server;
}

/** As `startServer`, for the whole test file. */
export const useServer = async (options?: ServerOptions): Promise<TestServer> =>
  untilTheEnd(await startServer(options));

/** As `startShared`, for the whole test file. */
export const useShared = async (...kind: Parameters<typeof startShared>): Promise<TestServer> =>
  untilTheEnd(await startShared(...kind));
