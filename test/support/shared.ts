import { randomBytes } from "node:crypto";
import { startAlone } from "./alone.ts";
import { type Api, api } from "./http.ts";
import { inCluster, startServer, type TestServer } from "./server.ts";
import { settle } from "./settle.ts";
import { OPERATOR_TOKEN, ok } from "./tenancy.ts";

/** In the environment: addresses of the servers that the test command started for all files, by embedder. */
const SHARED = "SENSORIUM_TEST_SERVERS";

/** No limits of rates and failures: all tests have the same address. */
const ENV = {
  OPERATOR_TOKEN,
  RATE_LIMIT_PER_MINUTE: "0",
  LOGIN_ATTEMPTS_PER_MINUTE: "0",
  PUBLIC_FAILURES_PER_MINUTE: "0",
};
const KINDS = { none: { ...ENV, EMBEDDER: "none" }, local: ENV };

type Kind = keyof typeof KINDS;

/**
 * A new tenant on a server that other test files use at the same time, for tests that neither change its settings nor
 * look at it as a whole. Outside of the test command, and in a cluster, it is a server of its own.
 *
 * @param embedder whether texts get vectors
 */
export async function startShared(embedder: Kind = "none"): Promise<TestServer> {
  const root = (JSON.parse(process.env[SHARED] ?? "{}") as Partial<Record<Kind, string>>)[embedder];
  if (!root || inCluster()) return startServer({ env: KINDS[embedder] });
  // While the file was loaded, the server may have closed connections of the file before. A request may fail on one of
  // them; when one is answered, this process has noticed the end of all.
  await settle(async () => (await (await fetch(`${root}/healthz`)).text()) !== "");
  const operator = api({ url: `${root}/v1` }, OPERATOR_TOKEN);
  const suffix = `-${randomBytes(6).toString("hex")}`;
  return sharedAt(root, suffix, await newTenant(operator, root, `shared${suffix}`));
}

async function newTenant(operator: Api, base_url: string, slug: string): Promise<TestServer["credentials"]> {
  const body = { slug, name: slug, admin_email: `admin@${slug}.example` };
  const { tenant, admin, agent, ingest_url } = ok(await operator.post("/tenants", body));
  return { base_url, ingest_url, tenant_id: tenant.id, tenant_slug: slug, admin, agent };
}

const refuse = (): never => {
  throw new Error("the server is shared with other test files: use startServer");
};

function sharedAt(root: string, suffix: string, credentials: TestServer["credentials"]): TestServer {
  return {
    suffix,
    url: `${root}/v1`,
    root,
    credentials,
    get dataDir() {
      return refuse();
    },
    pid: refuse,
    logs: refuse,
    metrics: refuse,
    stop: async () => {},
    end: refuse,
    kill: refuse,
    restart: refuse,
  };
}

/** Starts the servers of `startShared`, for the test command. @returns their environment, and what stops them */
export async function startAllShared(): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const started = await Promise.all(
    Object.entries(KINDS).map(async ([kind, env]) => [kind, await startAlone({ env })] as const),
  );
  let isOver = false;
  // However the test command ends.
  process.once("exit", () => {
    if (!isOver) for (const [, server] of started) process.kill(server.pid());
  });
  const roots = Object.fromEntries(started.map(([kind, { root }]) => [kind, root]));
  return {
    env: { [SHARED]: JSON.stringify(roots) },
    stop: async () => {
      await Promise.all(started.map(([, server]) => server.stop()));
      isOver = true;
    },
  };
}
