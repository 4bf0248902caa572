import { startAlone } from "./alone.ts";

/** The contents of `DATA_DIR/credentials.json` after the first start on an empty store. */
export interface Credentials {
  base_url: string;
  ingest_url: string;
  tenant_id: string;
  tenant_slug: string;
  admin: { email: string; password: string };
  agent: { id: string; api_key: string };
}

export interface ServerOptions {
  /** Settings for the server besides HOST, PORT and DATA_DIR. */
  env?: Record<string, string>;
  /** A data directory to use and to keep; without it, a temporary one that goes with the server. */
  dataDir?: string;
  /** A node on the same record: the new one knows the credentials of its first start, too. */
  beside?: TestServer;
  /** The checkout to start, where it is not this one. */
  root?: string;
  /** The port to listen on; without it, a free one. */
  port?: string;
  /** How long it may take to start, in ms, and again to be ready. */
  within?: number;
  /** A command to run it under, which must put the server in its own place (as `strace -D` does). */
  under?: string[];
}

export interface TestServer extends AsyncDisposable {
  /** Base URL of the API: `http://127.0.0.1:PORT/v1`. */
  url: string;
  /** Where it listens: `http://127.0.0.1:PORT`. */
  root: string;
  dataDir: string;
  credentials: Credentials;
  /** On a shared server: the end of what must be unique on it, as slugs of tenants. */
  suffix?: string;
  /** Process id of the server now running. */
  pid(): number;
  /** All it has printed since its last start. */
  logs(): string;
  /** Returns the metrics of its nodes in the Prometheus text format, concatenated. */
  metrics(): Promise<string>;
  /** Sends SIGTERM and removes its data directory. @throws Error unless it exits with 0 within 30 s. */
  stop(): Promise<void>;
  /** SIGTERM; the data directory stays for `restart`. @throws Error unless it exits with 0 within 30 s. */
  end(): Promise<void>;
  /** SIGKILL; the data directory stays for `restart`. */
  kill(): Promise<void>;
  /** Ends it as SIGTERM does, if it runs, and starts it on the same data directory and port. */
  restart(): Promise<void>;
}

/**
 * Starts the real server on a free port of 127.0.0.1 and waits until it is ready: one node on the embedded store, or,
 * with `SENSORIUM_TEST_WORLD=cluster`, a gateway and a worker over NATS on the MongoDB of `MONGO_URL`. Tests that set
 * MONGO_URL or NATS_URL get just that node.
 *
 * @throws Error with all it printed when it ends or is not ready within a minute.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { env = {}, under = [] } = options;
  const described = env.MONGO_URL !== undefined || env.NATS_URL !== undefined || under.length > 0;
  if (!inCluster() || described) return startAlone(options);
  // Only here: it knows all services by name, and loading them would cost every test file half a second.
  const { startClustered } = await import("./clustered.ts");
  return startClustered(options);
}

/** Whether `startServer` starts several nodes: what is only true of one process is not asked of them. */
export function inCluster(): boolean {
  const world = process.env.SENSORIUM_TEST_WORLD ?? "alone";
  if (world !== "alone" && world !== "cluster")
    throw new Error(`SENSORIUM_TEST_WORLD is ${world}: expected alone or cluster`);
  return world === "cluster";
}
