import { startServer } from "../../support/server.ts";
import { SETTINGS, type Subject } from "./world.ts";

/** A server whose process is killed and started again on the same data. */
export async function startKilled(): Promise<Subject> {
  const server = await startServer({ env: SETTINGS });
  return {
    ...{ server, aftermath: false, largestBatch: 50, publishEveryMs: 0 },
    strike: () => ({
      what: "SIGKILL",
      forgets: true,
      cause: async () => {
        await server.kill();
        await server.restart();
      },
    }),
    stop: () => server.stop(),
  };
}
