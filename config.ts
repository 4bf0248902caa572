import { compile as compileProxies } from "proxy-addr";

/** Every setting: its environment variable, default and meaning. docs/reference/settings.md is generated from this. */
type Kind = "text" | "integer" | "boolean" | "url" | "servers" | "list" | "proxies" | "key";

interface Setting<T> {
  kind: Kind;
  default: T;
  means: string;
  /** Inclusive bounds of an integer. */
  min?: number;
  max?: number;
  /** Allowed beginnings of a `url`. */
  schemes?: readonly string[];
  /** The form of `servers`, one or several separated by commas, and its description. */
  form?: { pattern: RegExp; description: string };
  /** The only values allowed. */
  oneOf?: readonly string[];
  /** The value never appears in a log or an error. */
  secret?: boolean;
}

const text = (fallback: string | null, means: string, more: Partial<Setting<string | null>> = {}) =>
  ({ kind: "text", default: fallback, means, ...more }) as Setting<string | null>;
const url = (schemes: readonly string[], means: string) =>
  ({ kind: "url", default: null, schemes, means }) as Setting<string | null>;
const WEB = ["http://", "https://"];
const servers = (pattern: RegExp, description: string, means: string) =>
  ({ kind: "servers", default: null, form: { pattern, description }, means, secret: true }) as Setting<
    string | null
  >;
const flag = (fallback: boolean, means: string) =>
  ({ kind: "boolean", default: fallback, means }) as Setting<boolean>;
const list = (fallback: readonly string[], means: string) =>
  ({ kind: "list", default: fallback, means }) as Setting<readonly string[]>;
const integer = (fallback: number, means: string, min: number, max: number) =>
  ({ kind: "integer", default: fallback, means, min, max }) as Setting<number>;

const DAY = 365 * 100;

export const SETTINGS = {
  HOST: text("127.0.0.1", "Address the HTTP server binds.") as Setting<string>,
  PORT: integer(
    3000,
    "Port of the HTTP server (on a node without `gateway`: `/healthz`, `/readyz` and `/metrics` only); 0 picks a free one.",
    0,
    65535,
  ),
  DATA_DIR: text(
    "./data",
    "Folder of the embedded store, its blobs, keys and `credentials.json`.",
  ) as Setting<string>,
  PUBLIC_URL: url(
    WEB,
    "Origin that callers use, if it is not the address the server binds (behind a proxy).",
  ),
  SERVICES: list(
    [],
    "Run only these services on this node, comma-separated, or, with `-` before each (`-gateway`), all but these; empty runs all.",
  ),
  LOG_LEVEL: text("info", "Minimum severity to log.", {
    oneOf: ["trace", "debug", "info", "warn", "error", "fatal"],
  }) as Setting<string>,

  MONGO_URL: servers(
    /^mongodb(\+srv)?:\/\/[^\s/?]+([/?]\S*)?$/,
    "mongodb://HOST:PORT,…/DATABASE?… or mongodb+srv://…",
    "MongoDB 7+ or Atlas as the record, instead of the embedded store; database `sensorium` unless it names one.",
  ),
  SEARCH: text(
    "local",
    "The search index: `local`, one on every node that runs `search`; `atlas`, one for all nodes in the Atlas Search of `MONGO_URL` (docs/atlas.md).",
    { oneOf: ["local", "atlas"] },
  ) as Setting<string>,
  NATS_URL: servers(
    /^(nats|tls):\/\/[^\s,]+(,(nats|tls):\/\/[^\s,]+)*$/,
    "nats://HOST:PORT, several with commas between",
    "NATS that connects the nodes (its server with `max_payload: 12MB`; `nats://USER:PASSWORD@HOST:PORT` if it needs " +
      "credentials), which share one `MONGO_URL`; without it all services run in this process.",
  ),
  REDIS_URL: {
    ...url(
      ["redis://", "rediss://"],
      "Redis that counts rate limits for all nodes together; without it, or while it is lost, each node counts alone.",
    ),
    secret: true,
  },
  SECRET_KEY: {
    kind: "key",
    default: null,
    means:
      "32 bytes in base64 that encrypt stored secrets; without it DATA_DIR stores one. MONGO_URL requires it.",
    secret: true,
  } as Setting<string | null>,
  OPERATOR_TOKEN: text(
    null,
    "Bearer token of the operator's routes (`/tenants`); without it they answer 404.",
    {
      secret: true,
    },
  ),
  METRICS_TOKEN: text(
    null,
    "Bearer token for `/metrics`; without it only loopback may read it, under a loopback `Host`.",
    {
      secret: true,
    },
  ),

  TRUST_PROXY: {
    kind: "proxies",
    default: [],
    means:
      "Proxies whose `X-Forwarded-For` counts, comma-separated: their addresses, which must overwrite the header. Ranges " +
      "(`10.0.0.0/8`), `loopback`, `linklocal` and `uniquelocal` trust every address in them.",
  } as Setting<readonly string[]>,
  RATE_LIMIT_PER_MINUTE: integer(100, "Requests per 60 s per agent or user; 0 is off.", 0, 1e9),
  TENANT_RATE_LIMIT_PER_MINUTE: integer(0, "Requests per 60 s per tenant; 0 is off.", 0, 1e9),
  DEVICE_CLAIMS_PER_HOUR: integer(
    30,
    "Attempts at device codes (claims and lookups) per hour and address (IPv6: per /64), regardless of `RATE_LIMIT_PER_MINUTE`.",
    1,
    1e9,
  ),
  LOGIN_ATTEMPTS_PER_MINUTE: integer(
    20,
    "Failed logins and token exchanges per 60 s per address (IPv6: per /64); from a browser that the account has signed " +
      "in from before, per browser; 0 is off.",
    0,
    1e9,
  ),
  PUBLIC_FAILURES_PER_MINUTE: integer(
    60,
    "Failed requests without a token (logins, token exchanges, device codes; malformed ones too) per 60 s per address " +
      "(IPv6: per /64); 0 is off.",
    0,
    1e9,
  ),
  WEBHOOK_REFUSALS_PER_MINUTE: integer(
    60,
    "Webhooks per 60 s refused for their signature per address (IPv6: per /64) and URL, ten times that per address; 0 is off.",
    0,
    1e9,
  ),
  WEBHOOKS_PER_MINUTE: integer(6000, "Signed webhooks per 60 s per tenant; 0 is off.", 0, 1e9),
  REQUEST_TIMEOUT_SECONDS: integer(30, "A call between services that takes longer fails.", 1, 600),
  MAX_WRITES_IN_FLIGHT: integer(
    2000,
    "Concurrent writes on a node; further ones get 503. Above half of this, a tenant with a quarter of them, or a caller with an eighth, gets 429.",
    1,
    1e6,
  ),
  MAX_INTERESTS_PER_AGENT: integer(1000, "Most interests of an agent.", 1, 1e6),
  MAX_INTERESTS_PER_TENANT: integer(200_000, "Most interests and feeds of a tenant together.", 1, 1e7),
  // At least the size of the service's own events, or these could never be published.
  EVENT_MAX_BYTES: integer(1_048_576, "Largest event in bytes.", 8192, 4_194_304),
  DOCUMENT_MAX_BYTES: integer(52_428_800, "Largest uploaded document in bytes.", 1024, 104_857_600),
  DOCUMENT_PARSE_SECONDS: integer(30, "A document that takes longer to read fails.", 1, 600),

  OUTPUT_BODY_MAX: integer(0, "Largest body of a saved output in bytes; 0 is no limit.", 0, 1e15),
  OUTPUT_EXPORT: flag(
    false,
    "Let people export outputs as PDF and DOCX; Markdown and HTML are always available.",
  ),
  EXPORT_FONTS: list(
    [],
    "Font files for PDF exports in scripts that the built-in fonts lack, such as Chinese; a font of a collection as `file.ttc#Name`.",
  ),
  OUTBOUND_EMAIL: flag(false, "Let people send outputs by e-mail, through `SMTP_URL`."),
  OUTBOUND_EMAILS_PER_HOUR: integer(60, "E-mails per hour per tenant.", 1, 1e6),
  SMTP_URL: {
    ...url(
      ["smtp://", "smtps://"],
      "Server for outgoing mail, `smtp://` or `smtps://`, with user and password if it needs them.",
    ),
    secret: true,
  },
  SMTP_FROM: text(null, "Sender of outgoing mail: `Name <name@example.com>` or the address alone."),

  VISIBILITY_TIMEOUT_SECONDS: integer(
    30,
    "How long a receiver has to acknowledge; agents may set their own.",
    1,
    43200,
  ),
  RETRY_BUDGET: integer(
    5,
    "Delivery attempts before a delivery is dead-lettered; agents may set their own.",
    1,
    100,
  ),
  DEDUPE_DAYS: integer(30, "Minimum time for which the id of an event is remembered.", 1, DAY),
  EVENT_RETENTION_DAYS: integer(
    30,
    "How long events are kept, and received messages that could not be mapped to one; never less than `DEDUPE_DAYS`.",
    1,
    DAY,
  ),
  ACKNOWLEDGED_RETENTION_DAYS: integer(7, "How long acknowledged deliveries are kept.", 1, DAY),
  MEMORY_REVERSIBILITY_DAYS: integer(
    30,
    "How long a forgotten memory can be restored; then, or as long after it expired, it is deleted permanently.",
    1,
    DAY,
  ),
  BUNDLE_RETENTION_DAYS: integer(
    90,
    "How long bundles are kept; one that a handoff or an attempt at a step refers to stays as long as the reference.",
    1,
    DAY,
  ),
  SESSION_RETENTION_DAYS: integer(
    90,
    "How long a device with a revoked key stays listed after it was last seen.",
    1,
    DAY,
  ),
  BACKUP_RETENTION_DAYS: integer(
    0,
    "How long you keep backups: receipts of erasures state until when one may hold erased data. 0: they state that it is unknown.",
    0,
    DAY,
  ),
  ERASURE_REWRITE_MB: integer(
    64,
    "An erasure rewrites the embedded store and the search index, each unless it is larger than this, and delays writes meanwhile; in a larger one it overwrites deleted rows in place.",
    0,
    1e6,
  ),
  AUDIT_DAYS: integer(365, "How long the audit log is kept.", 1, DAY),
  TENANT_STORAGE_MB: integer(
    10_000,
    "Storage quota of a tenant in megabytes (10^6 bytes), unless the operator set a separate one; 0 for no quota.",
    0,
    1e9,
  ),
  MIN_FREE_DISK_MB: integer(
    100,
    "Writes are refused when DATA_DIR's disk has less free space, and uploads when they would leave less than twice as much; 0 never refuses.",
    0,
    1e9,
  ),
  DNS_SERVERS: list(
    [],
    "Name servers that resolve push endpoints and brokers, as `ADDRESS` or `ADDRESS:PORT`; default: the system's.",
  ),
  PUSH_ALLOW_PRIVATE: flag(
    false,
    "Let push endpoints resolve to loopback, link-local and private addresses.",
  ),

  CONNECTOR_ALLOW_PRIVATE: flag(
    false,
    "Let connectors reach brokers on loopback, link-local and private addresses.",
  ),

  EMBEDDER: text(
    null,
    "Embedder for search: `bundled` (English, nothing to install), `url`, or `none` (search by text alone). Default: " +
      "`url` if `EMBEDDER_URL` is set, else `bundled`.",
    { oneOf: ["bundled", "url", "none"] },
  ),
  EMBEDDER_URL: url(
    WEB,
    "OpenAI-compatible embedding service: its `/v1`, or the full address of its `embeddings`.",
  ),
  EMBEDDER_MODEL: text("text-embedding-3-small", "Model requested from `EMBEDDER_URL`.") as Setting<string>,
  EMBEDDER_API_KEY: text(null, "Bearer token for `EMBEDDER_URL`.", { secret: true }),

  OTEL_EXPORTER_OTLP_ENDPOINT: url(WEB, "OTLP endpoint (HTTP) for traces; without it there are none."),
} satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof SETTINGS;
export type Config = Readonly<{
  [K in SettingName]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
}>;

/** A setting that cannot be used: the service reports it in one line and does not start. */
export class ConfigError extends Error {}

// This service's variables start like these: a near miss is reported as a mistake, not ignored.
const OURS =
  /^(MONGO|SEARCH|NATS|REDIS|SECRET_KEY|OPERATOR|METRICS_|TRUST_PROXY|RATE_LIMIT|TENANT_RATE|TENANT_STOR|LOGIN_ATTEMPTS|PUBLIC_FAIL|DEVICE_|WEBHOOK|REQUEST_TIMEOUT|MAX_WRITES|MAX_INTERESTS|EVENT_|DOCUMENT_|VISIBILITY_|RETRY_|MIN_FREE_|MEMORY_|ERASURE_|BACKUP_RETENTION|DEDUPE_|ACKNOWLEDGED_|BUNDLE_RETENTION|SESSION_RETENTION|PUSH_|CONNECTOR_|EMBEDDER|OUTPUT_|OUTBOUND_|AUDIT_|DATA_DIR|EXPORT_FONT|LOG_LEVEL|PUBLIC_UR|SMTP_)/;

/** Reads and validates the environment. Throws ConfigError with the variable, the given value and what is allowed. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const unknown = Object.keys(env).filter(
    (name) => OURS.test(name) && !Object.hasOwn(SETTINGS, name) && !isServiceLink(name, env),
  );
  if (unknown.length) {
    throw new ConfigError(`${unknown[0]} is not a setting; see docs/reference/settings.md.`);
  }
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [
    name,
    readSetting(name, setting, env[name]),
  ]);
  const config = Object.freeze(Object.fromEntries(entries)) as Config;
  if (config.MONGO_URL && !config.SECRET_KEY) {
    throw new ConfigError(
      "MONGO_URL needs SECRET_KEY, the same on every node: make one with `openssl rand -base64 32`.",
    );
  }
  if (config.SEARCH === "atlas" && !config.MONGO_URL) {
    throw new ConfigError("SEARCH is atlas: expected MONGO_URL too, the address of an Atlas deployment.");
  }
  if (config.EMBEDDER === "url" && !config.EMBEDDER_URL) {
    throw new ConfigError("EMBEDDER is url: expected EMBEDDER_URL too, the address of the service.");
  }
  return config;
}

/** Whether Kubernetes set a variable for a service, such as `nats`: `NATS_SERVICE_HOST`, `NATS_PORT_4222_TCP` … */
function isServiceLink(name: string, env: NodeJS.ProcessEnv): boolean {
  const [, service] = /^(.+?)_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_|$)/.exec(name) ?? [];
  return service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined;
}

const KEY_BYTES = 32;

function readSetting(name: string, setting: Setting<unknown>, given: string | undefined): unknown {
  if (given === undefined || given === "") return setting.default;
  const fail = (allowed: string) => {
    throw new ConfigError(
      `${name} is ${setting.secret ? "malformed" : JSON.stringify(given)}: expected ${allowed}.`,
    );
  };
  switch (setting.kind) {
    case "integer":
      return readInteger(given, setting as Setting<number>, fail);
    case "boolean":
      return { true: true, "1": true, false: false, "0": false }[given] ?? fail("true or false");
    case "url":
      // The parser alone would take the host of "example.com:443" for a scheme.
      return setting.schemes?.some((scheme) => given.startsWith(scheme)) && URL.canParse(given)
        ? given
        : fail(`a URL that begins with ${setting.schemes?.join(" or ")}`);
    case "servers":
      return setting.form?.pattern.test(given) ? given : fail(setting.form?.description as string);
    case "list":
      return readList(given);
    case "proxies":
      return areProxies(readList(given)) ? readList(given) : fail("addresses, ranges or their names");
    case "key":
      return Buffer.from(given, "base64").length === KEY_BYTES ? given : fail(`${KEY_BYTES} bytes in base64`);
    case "text":
      if (setting.oneOf && !setting.oneOf.includes(given)) fail(`one of ${setting.oneOf.join(", ")}`);
      return given;
  }
}

function readList(given: string): readonly string[] {
  const items = given.split(",").map((item) => item.trim());
  return Object.freeze(items.filter(Boolean));
}

function areProxies(items: readonly string[]): boolean {
  try {
    compileProxies([...items]);
    return true;
  } catch {
    return false;
  }
}

function readInteger(
  given: string,
  { min = 0, max = 0 }: Setting<number>,
  fail: (allowed: string) => void,
): number {
  const value = Number(given);
  if (!/^-?\d+$/.test(given) || value < min || value > max) fail(`a whole number from ${min} to ${max}`);
  return value;
}
