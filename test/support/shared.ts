import { randomBytes } from "node:crypto";
import { startAlone } from "./alone.ts";
import { killChildren } from "./child.ts";
import { type Api, api } from "./http.ts";
import { type ServerOptions, startServer, type TestServer } from "./server.ts";
import { settle } from "./settle.ts";
import { OPERATOR_TOKEN, ok, UNLIMITED } from "./tenancy.ts";

/** In the environment: addresses of the servers that the test command started for all files, by kind. */
const SHARED = "SENSORIUM_TEST_SERVERS";

const ENV = { OPERATOR_TOKEN, ...UNLIMITED, DEVICE_CLAIMS_PER_HOUR: "1000000" };
/**
 * `none`: texts get no vectors; `local`: they do; `open`: they do not, webhooks and proxies may be on this machine,
 * outputs may be sent by e-mail (but there is no mail server), and an agent is stuck after a second.
 */
const KINDS = {
  none: { ...ENV, EMBEDDER: "none" },
  local: ENV,
  open: {
    ...{ ...ENV, EMBEDDER: "none" },
    ...{ PUSH_ALLOW_PRIVATE: "true", TRUST_PROXY: "loopback", STUCK_AFTER_SECONDS: "1" },
    OUTBOUND_EMAIL: "true",
  },
};

type Kind = keyof typeof KINDS;

/** All of them start at once, and on a cluster other tests run meanwhile. */
const START_MS = 120_000;

/**
 * A new tenant on a server (in a cluster: a gateway and a worker) that other test files use at the same time, for tests
 * that neither change its settings nor look at it as a whole. Outside of the test command it is a new server.
 */
export async function startShared(kind: Kind = "none"): Promise<TestServer> {
  const root = (JSON.parse(process.env[SHARED] ?? "{}") as Partial<Record<Kind, string>>)[kind];
  if (!root) return startServer({ env: KINDS[kind] });
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
    ...{ suffix, url: `${root}/v1`, root, credentials },
    get dataDir() {
      return refuse();
    },
    ...{ pid: refuse, logs: refuse, metrics: refuse },
    stop: async () => {},
    [Symbol.asyncDispose]: async () => {},
    ...{ end: refuse, kill: refuse, restart: refuse },
  };
}

/** Calls whose server is shared, with the kind that they name, `none` unless they do. */
const CALLS = /(?<call>startShared|useShared|openSite|deliveryGround|useGround)\((?:"(?<kind>\w+)")?/g;
const DEFAULTS: Record<string, string> = {
  ...{ startShared: "none", useShared: "none", openSite: "local" },
  ...{ deliveryGround: "none", useGround: "none" },
};

function asksFor(kind: string, text: string): boolean {
  const calls = [...text.matchAll(CALLS)].map(
    ({ groups = {} }) => groups.kind ?? DEFAULTS[groups.call ?? ""],
  );
  return calls.includes(kind);
}

/** Whether a test file, given its text, uses one of the servers of `startShared`. */
export const isSharing = (text: string) => Object.keys(KINDS).some((kind) => asksFor(kind, text));

/**
 * Starts the servers of `startShared`, for the test command.
 *
 * @param sources text of the test files: kinds that they do not name are not started
 * @returns their environment, and what stops them
 */
export async function startAllShared(
  sources: string[],
  start: (options: ServerOptions) => Promise<TestServer> = startAlone,
): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const kinds = Object.entries(KINDS).filter(([kind]) => sources.some((text) => asksFor(kind, text)));
  const started = await Promise.all(
    kinds.map(async ([kind, env]) => [kind, await start({ env, within: START_MS })] as const),
  );
  // However the test command ends.
  process.once("exit", killChildren);
  const roots = Object.fromEntries(started.map(([kind, { root }]) => [kind, root]));
  return {
    env: { [SHARED]: JSON.stringify(roots) },
    stop: async () => void (await Promise.all(started.map(([, server]) => server.stop()))),
  };
}
