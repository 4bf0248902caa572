import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { FERRETDB, getFerret } from "./ferretdb-build.ts";
import { freshName, type TestMongo } from "./mongo.ts";
import { ToolsUnavailable } from "./tools.ts";

/** Where FerretDB answers otherwise than MongoDB 7 does: docs/decisions/0007-mongodb-stand-in.md says more. */
export const FERRETDB_LACKS = [
  ...["keyPattern", "NaN", "sparse is listed", "documents come back as they went in"],
  "an unknown operator is refused by name",
  "$unset of a position",
  "takes a missing value for a value",
  "holds for every element of an array",
  "refuse two arrays in one document",
];

/** A FerretDB that can be killed, and started again on the same port with what it kept. */
export interface TestFerret extends TestMongo {
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** FerretDB over SQLite, in a folder that is removed when it stops. */
export async function startFerret(): Promise<TestFerret | { skipped: string }> {
  try {
    await getFerret();
  } catch (error) {
    if (error instanceof ToolsUnavailable) return { skipped: `ferretdb: ${error.message}` };
    throw error;
  }
  const directory = await mkdtemp(join(tmpdir(), "sensorium-ferretdb-"));
  let port = "0";
  const start = async () => {
    const started = await startChild(FERRETDB, [directory, port]);
    [, port = ""] = await started.find(/^port (\d+)/m);
    return started;
  };
  let ferret = await start();
  return {
    url: `mongodb://127.0.0.1:${port}/${freshName()}?directConnection=true`,
    ...{ kind: "ferretdb", pid: ferret.pid },
    kill: async () => void (await ferret.end("SIGKILL")),
    start: async () => {
      ferret = await start();
    },
    stop: async () => {
      await ferret.end("eof");
      await rm(directory, { recursive: true, force: true });
    },
  };
}
