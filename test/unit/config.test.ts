import { describe, expect, test } from "@jest/globals";
import { ConfigError, shortSecrets } from "../../config.ts";
import { selectNames } from "../../lib/settings.ts";
import { ALL_SETTINGS, readAllSettings } from "../../services/extensions.ts";

const KEY = Buffer.alloc(32).toString("base64");

/** The limits that the service promises, and what is closed until somebody opens it. */
const PROMISED = {
  ...{ HOST: "127.0.0.1", PORT: 3000, PUBLIC_URL: null, TRUST_PROXY: [], DATA_DIR: "./data" },
  ...{ OPERATOR_TOKEN: null, METRICS_TOKEN: null, PASSWORD_SIGN_IN: true, OIDC_ISSUER: null, OIDC_ROLES: [] },
  ...{ PUSH_ALLOW_PRIVATE: false, OAUTH_ALLOW_PRIVATE: false, CONNECTOR_ALLOW_PRIVATE: false },
  ...{ OUTBOUND_EMAIL: false, EMBEDDER_URL: null },
  ...{ RATE_LIMIT_PER_MINUTE: 1000, DEVICE_CLAIMS_PER_HOUR: 30, LOGIN_ATTEMPTS_PER_MINUTE: 20 },
  ...{ PUBLIC_FAILURES_PER_MINUTE: 60, EVENT_MAX_BYTES: 1_048_576, DOCUMENT_MAX_BYTES: 52_428_800 },
  ...{ VISIBILITY_TIMEOUT_SECONDS: 30, RETRY_BUDGET: 5, RETRY_DELAYS_SECONDS: [10, 60, 300, 1800] },
  ...{ OUTPUT_BODY_MAX: 0, MEMORY_REVERSIBILITY_DAYS: 30, AUDIT_DAYS: 365, LOG_LEVEL: "info" },
};

test("without an environment every setting has its default", () => {
  const config = readAllSettings({});
  expect(config).toMatchObject(PROMISED);
  for (const [name, setting] of Object.entries(ALL_SETTINGS))
    expect([name, config[name as keyof typeof config]]).toEqual([name, setting.default]);
});

test("an empty value is none", () => expect(readAllSettings({ PORT: "" }).PORT).toBe(3000));

test.each([
  ["integer", { PORT: "0" }, { PORT: 0 }],
  ["flag, as a word", { PUSH_ALLOW_PRIVATE: "true" }, { PUSH_ALLOW_PRIVATE: true }],
  ["flag, as a number", { PUSH_ALLOW_PRIVATE: "0" }, { PUSH_ALLOW_PRIVATE: false }],
  ["list", { SERVICES: "events, deliveries,," }, { SERVICES: ["events", "deliveries"] }],
  ["text, with its space at the end", { EMBEDDER_QUERY_PREFIX: "query: " }, {}],
  ["one of some", { LOG_LEVEL: "debug" }, { LOG_LEVEL: "debug" }],
  ["several servers of NATS", { NATS_URL: "nats://a:4222,nats://b:4222" }, {}],
  ["a replica set", { MONGO_URL: "mongodb://u:p%2F@a:27017,b:27018/d?replicaSet=rs", SECRET_KEY: KEY }, {}],
  ["hosts without a database", { MONGO_URL: "mongodb://a,b", SECRET_KEY: KEY }, {}],
  ["Atlas", { MONGO_URL: "mongodb+srv://u:p@c.mongodb.net/?retryWrites=true", SECRET_KEY: KEY }, {}],
])("reads: %s", (_what, env, expected) =>
  expect(readAllSettings(env as NodeJS.ProcessEnv)).toMatchObject({ ...env, ...expected }),
);

describe("of sign-in", () => {
  const OIDC = {
    OIDC_ISSUER: "https://id.example.com",
    OIDC_CLIENT_ID: "c",
    OIDC_ROLES: "staff=member, a=b=admin",
  };

  test.each([
    [OIDC],
    [{ ...OIDC, PASSWORD_SIGN_IN: "false" }],
    [{ ...OIDC, OIDC_ISSUER: "http://127.0.0.1:8080/realms/a" }],
    [{ ...OIDC, OIDC_ISSUER: "http://[::1]:8080" }],
    [{ ...OIDC, OIDC_ROLES: "*=member" }],
  ])("accepts %j", (env) => expect(readAllSettings(env).OIDC_ISSUER).toBe(env.OIDC_ISSUER));

  test("reads groups with commas and backslashes", () => {
    const OIDC_ROLES = String.raw`CN=Ops\,OU=Groups\,DC=acme=admin, ACME\staff=member`;
    expect(readAllSettings({ ...OIDC, OIDC_ROLES }).OIDC_ROLES).toEqual([
      "CN=Ops,OU=Groups,DC=acme=admin",
      String.raw`ACME\staff=member`,
    ]);
    const unescaped = { ...OIDC, OIDC_ROLES: "CN=Ops,DC=acme=admin" };
    expect(() => readAllSettings(unescaped)).toThrow(
      /contains "CN=Ops": .* A comma inside VALUE is written as \\,/,
    );
  });

  test.each([
    [{ PASSWORD_SIGN_IN: "false" }, /nobody could sign in/],
    [{ ...OIDC, OIDC_ISSUER: "http://id.example.com" }, /expected https:\/\/, or http:\/\/ on loopback/],
    [{ ...OIDC, OIDC_ISSUER: "http://127.0.0.1.example.com" }, /expected https/],
    [{ ...OIDC, OIDC_CLIENT_ID: "" }, /OIDC_CLIENT_ID is not/],
    [{ ...OIDC, OIDC_SCOPES: "email" }, /OIDC_SCOPES lacks openid/],
    [{ ...OIDC, OIDC_ROLES: "" }, /OIDC_ROLES is not/],
    [{ ...OIDC, OIDC_ROLES: "staff" }, /OIDC_ROLES contains "staff"/],
    [{ ...OIDC, OIDC_ROLES: "staff=owner" }, /OIDC_ROLES contains "staff=owner"/],
    [{ OIDC_ISSUERS: "x" }, /OIDC_ISSUERS is not a setting/],
  ])("refuses %j", (env, message) => expect(() => readAllSettings(env)).toThrow(message));
});

test.each(["OPERATOR_TOKEN", "METRICS_TOKEN"])(
  "%s never counts when it is too short, nor do its fallbacks",
  (name) => {
    const [short, long] = ["a".repeat(31), "b".repeat(32)];
    const both = `${name}_FALLBACKS`;
    const env = { [name]: short, [both]: `${long},${short}` };
    const config = readAllSettings(env) as unknown as Record<string, string | string[]>;
    // Something stands in its place: what it guards stays guarded.
    const counting = [config[name], ...(config[both] as string[])] as string[];
    expect(counting).toHaveLength(3);
    expect(counting).not.toContain(short);
    for (const each of counting) expect(each.length).toBeGreaterThanOrEqual(32);
    expect(counting[1]).toBe(long);
    expect(new Set(counting).size).toBe(3);
    expect(shortSecrets(env).map((each) => each.split(" ", 1)[0])).toEqual([name, both]);
    expect(shortSecrets(env).join()).not.toContain(short);
    expect(shortSecrets({ [name]: long })).toEqual([]);
  },
);

describe("refuses, with the name, what it was and what it may be", () => {
  test.each([
    [{ PORT: "many" }, 'PORT is "many": expected a whole number from 0 to 65535.'],
    [{ PORT: "80.5" }, 'PORT is "80.5": expected a whole number from 0 to 65535.'],
    [{ PORT: "65536" }, 'PORT is "65536": expected a whole number from 0 to 65535.'],
    [{ RETRY_BUDGET: "0" }, 'RETRY_BUDGET is "0": expected a whole number from 1 to 100.'],
    [{ PUSH_ALLOW_PRIVATE: "yes" }, 'PUSH_ALLOW_PRIVATE is "yes": expected true or false.'],
    ...["example.com:443", "https://"].map((PUBLIC_URL): [Record<string, string>, string] => [
      { PUBLIC_URL },
      `PUBLIC_URL is "${PUBLIC_URL}": expected a URL that begins with http:// or https://.`,
    ]),
    ...["redis:6379", "redis+sentinel://:secret@one:26379,other:26379"].map(
      (REDIS_URL): [Record<string, string>, string] => [
        { REDIS_URL },
        "REDIS_URL is malformed: expected redis://HOST:PORT, redis+cluster://HOST:PORT,… or redis+sentinel://HOST:PORT,…/NAME.",
      ],
    ),
    [
      { SMTP_URL: "http://mail" },
      "SMTP_URL is malformed: expected a URL that begins with smtp:// or smtps://.",
    ],
    ...(
      [
        ["NATS_URL", "nats://a:4222,nats://u:p/w@b:4222"],
        ["REDIS_URL", "redis://:p#w@b:6379"],
        ["MONGO_URL", "mongodb://u:p/w@b:27017/d"],
        ["SMTP_URL", "smtp://u:p?w@b"],
        ["EMBEDDER_URL", "http://u:7/w@b"],
      ] as const
    ).map(([name, value]): [Record<string, string>, string] => [
      { [name]: value },
      `${name} is malformed: it is ambiguous, as an @ follows a /, ? or #. Write # as %23, / as %2F, ? as %3F, @ as %40, \\ as %5C and % as %25 in the name, the password and after the host.`,
    ]),
    [
      { EMBEDDER_URL: "http://u:w@b" },
      "EMBEDDER_URL is malformed: expected a URL without user name and password.",
    ],
    [{ NATS_URL: "there" }, "NATS_URL is malformed: expected nats://HOST:PORT, comma-separated if several."],
    [
      { MONGO_URL: "http://db:27017/sensorium" },
      "MONGO_URL is malformed: expected mongodb://HOST:PORT,…/DATABASE?… or mongodb+srv://….",
    ],
    [
      { MONGO_URL: "mongodb://db" },
      "MONGO_URL needs SECRET_KEY, the same on every node. Create one with `openssl rand -base64 32`.",
    ],
    ...Object.entries({
      ...{ RETRY_BUDGETS: "RETRY_BUDGET", DATA_DIRR: "DATA_DIR", DATADIR: "DATA_DIR", EMBEDER: "EMBEDDER" },
      ...{
        LOG_LEVLE: "LOG_LEVEL",
        log_level: "LOG_LEVEL",
        MAX_SCHEDULE_PER_AGENT: "MAX_SCHEDULES_PER_AGENT",
      },
      ...{ PROT: "PORT", HSOT: "HOST", TURST_PROXY: "TRUST_PROXY", OTEL_SERVICE_NAM: "OTEL_SERVICE_NAME" },
      ...{ MONGODB_URL: "MONGO_URL", SECERT_KEY: "SECRET_KEY", RERANKER_UR: "RERANKER_URL" },
      ...{ SMTP_HOST: "", NATS_PORT: "", MAX_WRITES: "MAX_WRITES_IN_FLIGHT" },
    }).map(([name, meant]): [Record<string, string>, string] => [
      { [name]: "3" },
      `${name} is not a setting.${meant && ` Did you mean ${meant}?`} Remove it, or see docs/reference/settings.md for the right name.`,
    ]),
  ])("%j", (env, message) => expect(() => readAllSettings(env)).toThrow(new ConfigError(message)));

  test("but never a secret", () => {
    expect(() => readAllSettings({ SECRET_KEY: "c2hvcnQ=" })).toThrow(/^SECRET_KEY is malformed: /);
    expect(() => readAllSettings({ SECRET_KEY: "c2hvcnQ=" })).not.toThrow(/c2hvcnQ=/);
  });
});

test("leaves other programs' variables alone", () => {
  const names =
    "PATH HOME EDITOR SHELL HOSTNAME HOSTTYPE HOSTS PORTS HOST_IP SERVICE COST POST DATA LOG SECRET LOGNAME SESSION_MANAGER DATABASE_URL " +
    "MEMORY_LIMIT BUNDLE_PATH DOCUMENT_ROOT REQUEST_METHOD LOG_FORMAT AMQP_URL HTTP_URL XDG_DATA_DIRS PUSHER_KEY STATSD_HOST " +
    "OAUTH2_CLIENT_ID MAX_OLD_SPACE OTEL_EXPORTER_OTLP_PROTOCOL OTEL_METRICS_EXPORTER npm_config_loglevel http_proxy host port";
  const env = Object.fromEntries(names.split(" ").map((name) => [name, "x"]));
  expect(() => readAllSettings({ ...env, OTEL_SERVICE_NAME: "x" })).not.toThrow();
});

test("takes no service that Kubernetes tells a pod of for a misspelt setting", () => {
  const link = {
    ...{ REDIS_MASTER_SERVICE_HOST: "10.0.0.7", REDIS_MASTER_SERVICE_PORT: "6379" },
    ...{ REDIS_MASTER_SERVICE_PORT_CLIENT: "6379", REDIS_MASTER_PORT: "tcp://10.0.0.7:6379" },
    REDIS_MASTER_PORT_6379_TCP_ADDR: "10.0.0.7",
  };
  expect(() => readAllSettings(link)).not.toThrow();
  expect(() => readAllSettings({ ...link, REDIS_MASTER_URL: "redis://10.0.0.7" })).toThrow(
    /^REDIS_MASTER_URL is not/,
  );
});

test.each<[string[], RegExp | string[]]>([
  [[], ["gateway", "push"]],
  [["push"], ["push"]],
  [["-push"], ["gateway"]],
  [["-teleport"], /^SERVICES contains "teleport": expected gateway, push\.$/],
  [["gateway", "-push"], /^SERVICES mixes names /],
])("SERVICES=%j selects them, or says what is wrong", (wanted, expected) => {
  const select = () => selectNames("SERVICES", wanted, ["gateway", "push"]);
  if (Array.isArray(expected)) expect(select()).toEqual(expected);
  else expect(select).toThrow(expected);
});
