import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { mongoClassPath } from "./jars.ts";
import { fetchMongod } from "./mongod.ts";
import { hasJavaCompiler, onPath } from "./needs.ts";
import { once } from "./once.ts";
import { freePort } from "./ports.ts";
import { settle } from "./settle.ts";
import { ToolsUnavailable } from "./tools.ts";

/** When it is first needed. */
const clientOf = (url: string) => new (once("mongodb") as typeof import("mongodb")).MongoClient(url);

export interface TestMongo {
  /** Connection string with a new, empty database. */
  url: string;
  kind: "MONGO_URL" | "mongod" | "mongo-java-server" | "ferretdb";
  /** Its process; null where it was given. */
  pid: number | null;
  stop(): Promise<void>;
}

/**
 * A MongoDB to test against: the one in `MONGO_URL`, else the test command's, else a mongod from PATH, else one that is downloaded where that can
 * be done (mongod.ts), else mongo-java-server, an in-memory stand-in that speaks MongoDB's wire protocol (MongoDB 5.0 without transactions, partial indexes,
 * TTL expiry, collation and pipeline updates; duplicate key errors carry no keyPattern).
 *
 * @param say reports the progress of the download
 * @param isOwn whether not to use the test command's, for tests that pause it
 * @returns `{skipped}` with the reason if none of these is available.
 */
export async function startMongo({
  say,
  isOwn = false,
  given = process.env.MONGO_URL,
}: {
  say?: (line: string) => void;
  isOwn?: boolean;
  given?: string;
} = {}): Promise<TestMongo | { skipped: string }> {
  if (given) return useGiven(given, { kind: "MONGO_URL", pid: null });
  const shared = process.env[SHARED];
  if (shared && !isOwn) {
    const { url, ...rest } = JSON.parse(shared);
    return useGiven(url, rest);
  }
  if (onPath("mongod")) return startMongod("mongod");
  const fetched = await fetchMongod(say);
  if ("path" in fetched) return startMongod(fetched.path);
  if (!(await hasJavaCompiler()))
    return { skipped: `mongodb: no MONGO_URL, no mongod (${fetched.why}) and no JDK 17+ on PATH` };
  try {
    return await startStandIn(await mongoClassPath());
  } catch (error) {
    if (error instanceof ToolsUnavailable) return { skipped: `mongodb: ${error.message}` };
    throw error;
  }
}

export function freshName(): string {
  return `sensorium_test_${randomBytes(6).toString("hex")}`;
}

/** In the environment: the server that the test command started for all files. Each file gets its own database. */
const SHARED = "SENSORIUM_TEST_MONGO";

/** Environment with which `startMongo` uses this server. */
export const sharing = ({ url, kind, pid }: TestMongo) => ({ [SHARED]: JSON.stringify({ url, kind, pid }) });

function useGiven(given: string, rest: Pick<TestMongo, "kind" | "pid">): TestMongo {
  // By hand: no URL has several hosts, as the address of a replica set does.
  const url = given.replace(/^([^:]+:\/\/[^/?]+)(\/[^?]*)?/, `$1/${freshName()}`);
  const stop = async () => {
    await using client = clientOf(url);
    const dropping = client.db().dropDatabase();
    // The stand-in cannot drop what some updates left in its unique indexes. What it keeps ends with the tests.
    await (rest.kind === "mongo-java-server" ? dropping.catch(() => {}) : dropping);
  };
  return { url, ...rest, stop };
}

/** A replica set of one, as what the service is used with is a replica set. */
async function startMongod(command: string): Promise<TestMongo> {
  const directory = await mkdtemp(join(tmpdir(), "sensorium-mongod-"));
  const port = await freePort();
  const settings = ["--bind_ip", "127.0.0.1", "--port", String(port), "--dbpath", directory];
  const mongod = await startChild(command, [...settings, "--replSet", REPLICA_SET]);
  await mongod.find(/Waiting for connections/i);
  await initiate(port);
  const stop = async () => {
    await mongod.end("SIGTERM");
    await rm(directory, { recursive: true, force: true });
  };
  const url = `mongodb://127.0.0.1:${port}/${freshName()}?directConnection=true`;
  return { url, kind: "mongod", pid: mongod.pid, stop };
}

const REPLICA_SET = "sensorium";

async function initiate(port: number): Promise<void> {
  const client = clientOf(`mongodb://127.0.0.1:${port}/?directConnection=true`);
  const admin = client.db("admin");
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
  await admin.command({ replSetInitiate: { _id: REPLICA_SET, members } });
  await settle(async () => (await admin.command({ hello: 1 })).isWritablePrimary === true, {
    what: "the replica set to have its primary",
  });
  await client.close();
}

async function startStandIn(classPath: string): Promise<TestMongo> {
  const launcher = join(import.meta.dirname, "MongoStandIn.java");
  const flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g"];
  const java = await startChild("java", [...flags, "-cp", classPath, launcher]);
  const [, port] = await java.find(/^port (\d+)/m);
  const stop = async () => {
    await java.end("eof");
  };
  return {
    url: `mongodb://127.0.0.1:${port}/${freshName()}?directConnection=true`,
    ...{ kind: "mongo-java-server", pid: java.pid, stop },
  };
}
