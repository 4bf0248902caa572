import { checkSignIn } from "./lib/access/sign-in-settings.ts";
import { RETRY_DELAYS_SECONDS } from "./lib/queue/backoff.ts";
import {
  ConfigError,
  flag,
  integer,
  integers,
  isTooShort,
  key,
  keys,
  LOG_LEVELS,
  list,
  readSetting,
  requireKnown,
  type Setting,
  servers,
  text,
  url,
  web,
} from "./lib/settings.ts";

export { ConfigError };

const DAY = 365 * 100;
const SECRET = { secret: true };
/** Nothing limits how often the right one is tried, so it must be too long to be found. A shorter one never counts. */
const TOKEN = { ...SECRET, least: 32 };

/** Every setting: its environment variable, default and meaning. */
export const SETTINGS = {
  HOST: text(
    "127.0.0.1",
    "Address that the HTTP server binds. The default accepts connections from this machine only.",
  ) as Setting<string>,
  PORT: integer(
    3000,
    "Port of the HTTP server; 0 picks a free one. A node without `gateway` serves only `/healthz`, `/readyz` and `/metrics`.",
    0,
    65535,
  ),
  DATA_DIR: text(
    "./data",
    "Folder for the embedded store, its blobs, keys and `credentials.json`.",
  ) as Setting<string>,
  PUBLIC_URL: web(
    "Origin that callers use, if a proxy is in front. Default: the address that the server binds.",
  ),
  SERVICES: list(
    [],
    "Services to run on this node, comma-separated; with `-` before each (`-gateway`), the services not to run. Default: all.",
  ),
  EXTENSIONS: list(
    [],
    "Extensions to run, comma-separated (docs/extensions.md); with `-` before each (`-a2a`), those not to run; `none`: the core alone. Default: all. The same on every node.",
  ),
  EXTENSIONS_DIR: text(null, "Folder with further extensions, one folder each. Default: none."),
  LOG_LEVEL: text("info", "Minimum severity to log.", {
    oneOf: LOG_LEVELS,
  }) as Setting<string>,

  MONGO_URL: servers(
    /^mongodb(\+srv)?:\/\/[^\s/?]+([/?]\S*)?$/,
    "mongodb://HOST:PORT,…/DATABASE?… or mongodb+srv://…",
    "MongoDB 7+ or Atlas, to use instead of the embedded store; database `sensorium` unless the address names one. Default: the embedded store.",
  ),
  SEARCH: text(
    "local",
    "Search index. `local`: one on every node that runs `search`. `atlas`: one for all nodes, in the Atlas Search of `MONGO_URL` (docs/atlas.md).",
    { oneOf: ["local", "atlas"] },
  ) as Setting<string>,
  NATS_URL: servers(
    /^(nats|tls):\/\/[^\s,]+(,(nats|tls):\/\/[^\s,]+)*$/,
    "nats://HOST:PORT, comma-separated if several",
    "NATS server that connects the nodes of one `MONGO_URL`, configured with `max_payload: 12MB`. With credentials: " +
      "`nats://USER:PASSWORD@HOST:PORT`. With `tls://`, by TLS only. Default: none; all services run in this process.",
  ),
  REDIS_URL: servers(
    /^rediss?(:\/\/[^\s,]+|\+cluster:\/\/([^\s/?@]*@)?[^\s/?@]+\/?|\+sentinel:\/\/([^\s/?@]*@)?[^\s/?@]+\/[^\s/]+)$/,
    "redis://HOST:PORT, redis+cluster://HOST:PORT,… or redis+sentinel://HOST:PORT,…/NAME",
    "Redis that counts rate limits across nodes: `redis://HOST:PORT`, a Cluster as `redis+cluster://HOST:PORT,HOST:PORT`, or the " +
      "master called NAME by Sentinels as `redis+sentinel://HOST:PORT,HOST:PORT/NAME` (`?sentinel_password=…` if they need one). " +
      "With TLS: `rediss`. With credentials: `USER:PASSWORD@` before the first host. Without it, or while it is unavailable, each " +
      "node counts its own requests.",
  ),
  SECRET_KEY: key(
    "Key that encrypts stored secrets: 32 bytes in base64. Required with `MONGO_URL`. Default: a key generated and stored in `DATA_DIR`.",
  ),
  SECRET_KEY_FALLBACKS: keys(
    "Keys that decrypt stored secrets but encrypt none, comma-separated: former ones, and the next one before all nodes have it (docs/runbooks/key-leaked.md).",
  ),
  OPERATOR_TOKEN: text(
    null,
    "Bearer token for the operator's routes (`/tenants`, `/rotation`), of at least 32 characters. Without it they return 404.",
    TOKEN,
  ),
  OPERATOR_TOKEN_FALLBACKS: list([], "Tokens that count as `OPERATOR_TOKEN` too, comma-separated.", TOKEN),
  METRICS_TOKEN: text(
    null,
    "Bearer token for `/metrics`, of at least 32 characters. Without it, only requests from loopback with a loopback `Host` can read it.",
    TOKEN,
  ),
  METRICS_TOKEN_FALLBACKS: list([], "Tokens that count as `METRICS_TOKEN` too, comma-separated.", TOKEN),

  PASSWORD_SIGN_IN: flag(
    true,
    "Whether people can sign in with a password; `false` needs `OIDC_ISSUER`, and applies to all tenants.",
  ),
  OIDC_ISSUER: web(
    "Identity provider (OpenID Connect) that people of `OIDC_TENANT` sign in by; `https://`, or `http://` on loopback. Default: none.",
  ),
  OIDC_CLIENT_ID: text(
    null,
    "Id that the provider has given this service. Register the redirect URI `PUBLIC_URL/sign-in/callback` there.",
  ),
  OIDC_CLIENT_SECRET: text(
    null,
    "The client's secret. Default: none; PKCE alone protects the exchange.",
    SECRET,
  ),
  OIDC_SCOPES: list(
    ["openid", "email", "profile"],
    "Scopes to request, comma-separated, `openid` among them.",
  ),
  OIDC_TENANT: text("default", "Slug of the tenant that the provider's people belong to.") as Setting<string>,
  OIDC_ROLE_CLAIM: text(
    "groups",
    "Claim whose values give the role: its name, or a path such as `realm_access.roles`; a dot inside a name is `\\.`, as in `resource_access.my\\.app.roles`.",
  ) as Setting<string>,
  OIDC_ROLES: list(
    [],
    "Roles by value of `OIDC_ROLE_CLAIM`, comma-separated: `ops=admin,staff=member`. A comma inside a value is `\\,`. `*` stands for everybody whom the provider signs in. Others are refused.",
  ),
  OIDC_NAME: text("SSO", "Name of the provider on the sign-in page.") as Setting<string>,

  TRUST_PROXY: {
    kind: "proxies",
    default: [],
    means:
      "Addresses of proxies whose `X-Forwarded-For` is trusted, comma-separated; they must overwrite the header. Ranges " +
      "(`10.0.0.0/8`), `loopback`, `linklocal` and `uniquelocal` trust every address in them. Default: none.",
  } as Setting<readonly string[]>,
  RATE_LIMIT_PER_MINUTE: integer(1000, "Requests per 60 s per agent or user; 0: no limit.", 0, 1e9),
  TENANT_RATE_LIMIT_PER_MINUTE: integer(0, "Requests per 60 s per tenant; 0: no limit.", 0, 1e9),
  DEVICE_CLAIMS_PER_HOUR: integer(
    30,
    "Claims and lookups of device codes per hour per address (IPv6: per /64), regardless of `RATE_LIMIT_PER_MINUTE`. As " +
      "many registrations of OAuth clients are allowed.",
    1,
    1e9,
  ),
  LOGIN_ATTEMPTS_PER_MINUTE: integer(
    20,
    "Failed tries of an account's password or code per 60 s per address (IPv6: per /64), or per browser if the account has " +
      "signed in from it before; of all accounts ten times as many per address; 0: no limit.",
    0,
    1e9,
  ),
  PUBLIC_FAILURES_PER_MINUTE: integer(
    60,
    "Wrong credentials of a kind (keys, tokens, codes, links, signatures, `OPERATOR_TOKEN`, `METRICS_TOKEN`) per 60 s per " +
      "address (IPv6: per /64); further wrong ones get 429, right ones pass; 0: no limit.",
    0,
    1e9,
  ),
  WEBHOOKS_PER_MINUTE: integer(6000, "Signed webhooks per 60 s per tenant; 0: no limit.", 0, 1e9),
  REQUEST_TIMEOUT_SECONDS: integer(30, "Timeout of a call between services, in seconds.", 1, 600),
  DRAIN_SECONDS: integer(
    0,
    "Seconds for which a node keeps serving after SIGTERM while `/readyz` answers 503, so that load balancers stop sending to it first. SIGINT ends the wait.",
    0,
    600,
  ),
  SHUTDOWN_SECONDS: integer(
    25,
    "Seconds that a node may take to finish requests and work when it stops, after DRAIN_SECONDS, as long as it makes progress: without any for 5 s it ends. Give the process 5 s more before it is killed.",
    1,
    600,
  ),
  MAX_WRITES_IN_FLIGHT: integer(
    2000,
    "Concurrent writes on a node; further writes get 503. A tenant with as many as it leaves free, and a caller with a quarter of all, get 429. Acknowledgements and renewals have as many separate slots.",
    1,
    1e6,
  ),
  MAX_INTERESTS_PER_AGENT: integer(1000, "Maximum number of interests of an agent.", 1, 1e6),
  MAX_INTERESTS_PER_TENANT: integer(200_000, "Maximum number of interests and feeds of a tenant.", 1, 1e7),
  MAX_SCHEDULES_PER_AGENT: integer(100, "Maximum number of schedules of an agent or a person.", 1, 1e5),
  MAX_SCHEDULES_PER_TENANT: integer(1000, "Maximum number of schedules of a tenant.", 1, 1e6),
  // At least the size of the service's own events, or these could never be published.
  EVENT_MAX_BYTES: integer(1_048_576, "Maximum size of an event, in bytes.", 8192, 4_194_304),
  DOCUMENT_MAX_BYTES: integer(
    52_428_800,
    "Maximum size of an uploaded document, in bytes.",
    1024,
    104_857_600,
  ),
  DOCUMENT_PARSE_SECONDS: integer(
    30,
    "Processor time for parsing a document, in seconds; ten times as long by the clock.",
    1,
    600,
  ),
  OUTPUT_BODY_MAX: integer(0, "Maximum size of a saved output's text, in bytes; 0: no limit.", 0, 1e15),
  OUTBOUND_EMAIL: flag(false, "Whether people can send outputs by e-mail, through `SMTP_URL`."),
  OUTBOUND_EMAILS_PER_HOUR: integer(60, "E-mails per hour per tenant.", 1, 1e6),
  SMTP_URL: {
    ...url(
      ["smtp://", "smtps://"],
      "Server for outgoing e-mail, `smtp://` or `smtps://`, with user and password if required. Without it, sending gets 503.",
    ),
    secret: true,
  },
  SMTP_FROM: text(null, "Sender of outgoing e-mail: `Name <name@example.com>` or the address alone."),

  VISIBILITY_TIMEOUT_SECONDS: integer(
    30,
    "Seconds to acknowledge a delivery before it is redelivered. Agents can set their own.",
    1,
    43200,
  ),
  RETRY_BUDGET: integer(
    5,
    "Delivery attempts before a delivery is dead-lettered. Agents can set their own.",
    1,
    100,
  ),
  RETRY_DELAYS_SECONDS: integers(
    RETRY_DELAYS_SECONDS,
    "Seconds before each retry after a rejected delivery or a failed push, ±20 %; the last one repeats. Agents and " +
      "interests can set their own, and a rejection can give its own delay.",
    1,
    86400,
  ),
  STUCK_AFTER_SECONDS: integer(
    300,
    "Age of a pending delivery that makes its agent stuck, unless the agent is usually away for longer.",
    1,
    86400,
  ),
  DEDUPE_DAYS: integer(30, "Days for which event ids are kept, at least, to detect duplicates.", 1, DAY),
  EVENT_RETENTION_DAYS: integer(
    30,
    "Days for which events, and received messages that could not be mapped to one, are kept. At least `DEDUPE_DAYS`.",
    1,
    DAY,
  ),
  ACKNOWLEDGED_RETENTION_DAYS: integer(7, "Days for which acknowledged deliveries are kept.", 1, DAY),
  MEMORY_REVERSIBILITY_DAYS: integer(
    30,
    "Days for which a forgotten memory can be restored. After that, or as long after it expired, it is deleted permanently.",
    1,
    DAY,
  ),
  BUNDLE_RETENTION_DAYS: integer(
    90,
    "Days for which bundles are kept. A bundle that a handoff or an attempt on a step refers to is kept as long as the reference.",
    1,
    DAY,
  ),
  SESSION_RETENTION_DAYS: integer(
    90,
    "Days for which a device with a revoked key is listed after it was last seen.",
    1,
    DAY,
  ),
  BACKUP_RETENTION_DAYS: integer(
    0,
    "Days for which you keep backups. Receipts of erasures state until when a backup may contain erased data; with 0, that it is unknown.",
    0,
    DAY,
  ),
  ERASURE_REWRITE_MB: integer(
    64,
    "Maximum size in megabytes up to which an erasure rewrites the embedded store or the search index, which delays writes. In a larger one it overwrites deleted rows in place.",
    0,
    1e6,
  ),
  STATS_MINUTE_RETENTION_HOURS: integer(48, "Hours for which traffic is kept by minute.", 25, 24 * DAY),
  STATS_HOUR_RETENTION_DAYS: integer(90, "Days for which traffic is kept by hour.", 8, DAY),
  AUDIT_DAYS: integer(365, "Days for which the audit log is kept.", 1, DAY),
  TENANT_STORAGE_MB: integer(
    10_000,
    "Storage quota of a tenant in megabytes (10^6 bytes), unless the operator set its own; 0: no quota.",
    0,
    1e9,
  ),
  MIN_FREE_DISK_MB: integer(
    100,
    "Free disk space in megabytes below which writes are refused; uploads are refused if they would leave less than twice as much. 0: never. With MONGO_URL only `/readyz`, the metrics and an alert show it: the disk then holds the search index.",
    0,
    1e9,
  ),
  DNS_SERVERS: list(
    [],
    "Name servers that resolve push endpoints and brokers, comma-separated, as `ADDRESS` or `ADDRESS:PORT`. Default: the system's.",
  ),
  PUSH_ALLOW_PRIVATE: flag(
    false,
    "Whether push endpoints can resolve to loopback, link-local and private addresses.",
  ),
  OAUTH_ALLOW_PRIVATE: flag(
    false,
    "Whether metadata documents of OAuth clients can be on loopback, link-local and private addresses.",
  ),
  CONNECTOR_ALLOW_PRIVATE: flag(
    false,
    "Whether connectors can reach brokers on loopback, link-local and private addresses.",
  ),

  EMBEDDER: text(
    null,
    "Embedder for search: `bundled` (English, nothing to install), `multilingual` (about 100 languages, installed by " +
      "`npm run embedder -- add multilingual`), `url`, or `none` (search by words only). Default: `url` if `EMBEDDER_URL` is " +
      "set, else `bundled`.",
    { oneOf: ["bundled", "multilingual", "url", "none"] },
  ),
  EMBEDDER_URL: web(
    "OpenAI-compatible embedding service: its `/v1` URL, or the full URL of its `embeddings` endpoint.",
  ),
  EMBEDDER_MODEL: text("text-embedding-3-small", "Model requested from `EMBEDDER_URL`.") as Setting<string>,
  EMBEDDER_API_KEY: text(null, "Bearer token for `EMBEDDER_URL`.", { secret: true }),
  EMBEDDER_QUERY_PREFIX: text(null, 'Text that the model expects before a query: "query: " for e5.'),
  EMBEDDER_TEXT_PREFIX: text(null, 'Text that the model expects before a searched text: "passage: " for e5.'),
  EMBEDDER_DIMENSIONS: integer(0, "Components of a vector to request; 0: the model's own number.", 0, 8192),
} satisfies Record<string, Setting<unknown>>;

export type Config = ValuesOf<typeof SETTINGS>;

/** Where extensions are found, and which of them run: modules that list what these have need it before all settings are read. */
export const EXTENSION_PLACES = {
  EXTENSIONS: readSetting("EXTENSIONS", SETTINGS.EXTENSIONS, process.env.EXTENSIONS) as readonly string[],
  EXTENSIONS_DIR: readSetting("EXTENSIONS_DIR", SETTINGS.EXTENSIONS_DIR, process.env.EXTENSIONS_DIR) as
    | string
    | null,
};

export type ValuesOf<S> = Readonly<{ [K in keyof S]: S[K] extends Setting<infer T> ? T : never }>;

/** Returns the values of an extension's settings, which `readConfig` has read with the others. */
export function valuesOf<S extends Record<string, Setting<unknown>>>(
  config: Config,
  settings: S,
): ValuesOf<S> {
  const read = config as unknown as Record<string, unknown>;
  return Object.fromEntries(Object.keys(settings).map((name) => [name, read[name]])) as ValuesOf<S>;
}

/** Returns a sentence for each setting with a secret that is too short to count. */
export function shortSecrets(env: NodeJS.ProcessEnv = process.env): string[] {
  return Object.entries(SETTINGS).flatMap(([name, setting]: [string, Setting<unknown>]) =>
    isTooShort(setting, env[name])
      ? `${name} has fewer than ${setting.least} characters and is NOT ACCEPTED, by nobody: set it to the output of \`openssl rand -hex ${setting.least}\` and start again`
      : [],
  );
}

/**
 * Reads and validates the environment. Throws ConfigError with the variable, the given value and what is allowed.
 * @param settings with those of extensions (services/extensions.ts)
 */
export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  settings: Record<string, Setting<unknown>> = SETTINGS,
): Config {
  requireKnown(env, Object.keys(settings));
  const entries = Object.entries(settings).map(([name, setting]) => [
    name,
    readSetting(name, setting, env[name]),
  ]);
  const config = Object.freeze(Object.fromEntries(entries)) as Config;
  if (config.MONGO_URL && !config.SECRET_KEY) {
    throw new ConfigError(
      "MONGO_URL needs SECRET_KEY, the same on every node. Create one with `openssl rand -base64 32`.",
    );
  }
  for (const name of ["SECRET_KEY", "OPERATOR_TOKEN", "METRICS_TOKEN"] as const)
    if (config[`${name}_FALLBACKS`].length && !config[name])
      throw new ConfigError(`${name}_FALLBACKS is set, but ${name} is not: set it to what replaces them.`);
  if (config.SEARCH === "atlas" && !config.MONGO_URL) {
    throw new ConfigError("SEARCH is atlas, but MONGO_URL is not set: give an Atlas deployment's address.");
  }
  checkSignIn(config);
  if (config.EMBEDDER === "url" && !config.EMBEDDER_URL) {
    throw new ConfigError(
      "EMBEDDER is url, but EMBEDDER_URL is not set: expected the address of an embedding service.",
    );
  }
  return config;
}
