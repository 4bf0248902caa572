import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Logger, pino } from "pino";
import type { Config } from "../config.ts";
import { LruMap } from "../lib/lru-map.ts";
import { TokenBucket } from "../lib/queue/token-bucket.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { metrics } from "./metrics.ts";

/** Lines are JSON with `level`, `time`, `node`, `instance` and `msg`; those of a request carry its ids. */
export type Log = Logger;

/** Fields that are never logged, up to two objects deep. */
const SECRET_FIELDS = [
  "access_token",
  "api_key",
  "authorization",
  "cookie",
  "key",
  "new_password",
  "password",
  "secret",
  "signing_secret",
  "token",
];

/** Patterns of this product's secrets in any text: API keys, signing secrets, JWTs, passwords in URLs. */
const SECRET_SHAPES = [
  "ak_live_[A-Za-z0-9]+",
  "whsec_[A-Za-z0-9+/=_-]+",
  "eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+",
  'Bearer [^\\s"\\\\]+',
  '(?<=//)[^\\s/"@]*:[^\\s/"@]*(?=@)',
];

const CENSORED = "[secret]";

const MAX_BUFFERED_BYTES = 8 * 1_048_576;

/** A shorter secret is likely to be part of an ordinary word. */
const LEAST_SECRET = 8;

/** Levels whose repeated lines are limited. */
const LIMITED = {
  [pino.levels.values.warn as number]: "warn",
  [pino.levels.values.error as number]: "error",
};

/**
 * Creates the log of a node. It writes to standard error and leaves standard output to people.
 *
 * Secrets are removed twice: by the field's name, and by pattern in the finished line, because an error message may
 * quote anything. Repeated warnings and errors are limited; the next line of the kind says how many were `suppressed`.
 */
export function createLog(config: Config, stream: { write(line: string): void } = standardError()): Log {
  const secrets = secretPattern(config);
  const admit = newRepetitions();
  return pino(
    {
      level: config.LOG_LEVEL,
      base: identity,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: CENSORED,
      },
      hooks: {
        streamWrite: (line) => line.replace(secrets, CENSORED),
        logMethod(entry, method, level) {
          const args = normalised(entry);
          const limited = LIMITED[level];
          const suppressed = limited ? admit(kindOf(limited, args)) : 0;
          if (suppressed === null) metrics.logSuppressed.inc({ level: limited as string });
          else method.apply(this, (suppressed ? withFields({ suppressed }, args) : args) as never);
        },
      },
    },
    stream,
  );
}

/** Moleculer and many others log ("what happened", error or why); pino would drop the second argument. */
function normalised(args: unknown[]): unknown[] {
  const [message, why, ...rest] = args;
  if (typeof message !== "string") return args;
  if (why instanceof Error) return [{ err: why }, message, ...rest];
  if (typeof why === "string" && !message.includes("%")) return [`${message} ${why}`, ...rest];
  return args;
}

/** Returns what the repetitions of a line have in common. */
function kindOf(level: string, [first, message]: unknown[]): string {
  if (typeof first === "string") return `${level} ${first}`;
  const fields = first instanceof Error ? { err: first } : (first ?? {});
  const { err, route, status } = fields as { err?: Error; route?: string; status?: number };
  return [level, message, err?.message, route, STATUS[status ?? 0]].join(" ");
}

/** Numbers do not tell kinds apart. */
const STATUS: Record<number, string> = { 500: "failed", 502: "bad", 503: "unavailable", 504: "late" };

function withFields(fields: object, [first, ...rest]: unknown[]): unknown[] {
  if (typeof first === "string") return [fields, first, ...rest];
  return [{ ...(first instanceof Error ? { err: first } : (first as object)), ...fields }, ...rest];
}

/**
 * Standard error may be a file on a full disk, or a pipe that nobody reads: lines then wait in a limited buffer and are
 * dropped when it is full, but the service continues.
 */
function standardError(): { write(line: string): void } {
  const destination = pino.destination({ dest: 2, maxLength: MAX_BUFFERED_BYTES });
  let isBroken = false;
  destination.on("error", () => {
    isBroken = true;
  });
  destination.on("write", () => {
    isBroken = false;
  });
  const flush = destination.flushSync.bind(destination);
  // Called when the process ends, where it would retry forever.
  destination.flushSync = () => {
    if (!isBroken) flush();
  };
  return destination;
}

/** Matches the configuration's secrets as they appear in JSON, and everything that looks like a secret. */
function secretPattern(config: Config): RegExp {
  const names = ["SECRET_KEY", "OPERATOR_TOKEN", "METRICS_TOKEN"] as const;
  const values = names.flatMap((name) => [config[name] ?? [], config[`${name}_FALLBACKS`]].flat());
  const inJson = values
    .filter(({ length }) => length >= LEAST_SECRET)
    .map((value) => JSON.stringify(value).slice(1, -1));
  return new RegExp([...inJson.map((text) => RegExp.escape(text)), ...SECRET_SHAPES].join("|"), "g");
}

/**
 * Creates Moleculer's loggers. Its own messages (a service started, a node connected) are logged at `debug`, and only
 * its warnings and errors at `info`, which keeps a start quiet.
 */
export function moleculerLogger(log: Log) {
  return {
    level: levelBelow(log),
    createLogger: (level: string, { mod }: { mod: string }): Log => {
      const child = log.child({ service: mod }, { level });
      children.set(log, [...(children.get(log) ?? []), child]);
      return mod === "broker" ? quietFailures(child) : child;
    },
  };
}

/** Moleculer's loggers of a node's log. */
const children = new WeakMap<Log, Log[]>();

const levelBelow = ({ level }: Log) => (level === "info" ? "warn" : level);

/** Sets the level of a node's log, and of Moleculer's. */
export function setLogLevel(log: Log, level: string): void {
  log.level = level;
  for (const child of children.get(log) ?? []) child.level = levelBelow(log);
}

/** main reports a failed start in one line for people; the broker would report it again. */
function quietFailures(log: Log): Log {
  const { error } = log;
  log.error = function (this: Log, ...args: unknown[]) {
    if (args[0] !== "Unable to start all services.") error.apply(this, args as never);
  } as Log["error"];
  return log;
}

/** Lines of a kind at once; then as many a minute. */
const LINES = 3;
/** Kinds remembered, least recently logged first to be forgotten. */
const MOST_KINDS = 500;
const LONGEST_KIND = 300;
/** Ids, numbers and names in quotation marks. */
const VARYING = /'[^']*'|"[^"]*"|[\w-]*\d[\w-]*/g;

interface Kind {
  budget: TokenBucket;
  suppressed: number;
}

/**
 * Returns what limits repeated log lines of a kind: the same text, whatever ids and numbers are in it. It returns how many
 * lines of the kind were suppressed since the last one; null if this one should be too.
 */
export function newRepetitions(now = () => performance.now()): (text: string) => number | null {
  const kinds = new LruMap<string, Kind>(MOST_KINDS);
  return (text) => {
    const name = text.slice(0, LONGEST_KIND).replace(VARYING, "#");
    const kind = kinds.get(name) ?? { budget: new TokenBucket(LINES / MINUTE_MS, LINES), suppressed: 0 };
    kinds.set(name, kind);
    kind.budget.refill(now());
    if (kind.budget.left < 1) {
      kind.suppressed++;
      return null;
    }
    kind.budget.take(1);
    const { suppressed } = kind;
    kind.suppressed = 0;
    return suppressed;
  };
}

/** This process among the nodes: in every log line, in every trace, and on NATS. */
export const identity = {
  /** The name by which other nodes know it. In a container it may be the same after a restart. */
  node: `${hostname().toLowerCase()}-${process.pid}`,
  /** Different after every start. */
  instance: randomUUID(),
};
