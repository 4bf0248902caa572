import { type Logger, pino } from "pino";
import type { Config } from "../config.ts";

/** The log of a node. Lines are JSON with `level`, `time` and `msg`; those of a request carry its ids. */
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

/**
 * Creates the log of a node. It writes to standard error and leaves standard output to people.
 *
 * Secrets are removed twice: by the field's name, and by pattern in the finished line, because an error message may
 * quote anything.
 */
export function createLog(config: Config, stream: { write(line: string): void } = standardError()): Log {
  const secrets = secretPattern(config);
  return pino(
    {
      level: config.LOG_LEVEL,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: CENSORED,
      },
      hooks: {
        streamWrite: (line) => line.replace(secrets, CENSORED),
        // Moleculer and many others log ("what happened", error or why); pino would drop the second argument.
        logMethod(args, method) {
          const [message, why, ...rest] = args as unknown[];
          if (typeof message === "string" && why instanceof Error) {
            method.apply(this, [{ err: why }, message, ...rest] as never);
          } else if (typeof message === "string" && typeof why === "string" && !message.includes("%")) {
            method.apply(this, [`${message} ${why}`, ...rest] as never);
          } else method.apply(this, args);
        },
      },
    },
    stream,
  );
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
function secretPattern({ SECRET_KEY, OPERATOR_TOKEN, METRICS_TOKEN }: Config): RegExp {
  const given = [SECRET_KEY, OPERATOR_TOKEN, METRICS_TOKEN].filter((value) => value !== null);
  const inJson = given
    .filter(({ length }) => length >= LEAST_SECRET)
    .map((value) => JSON.stringify(value).slice(1, -1));
  return new RegExp([...inJson.map((text) => RegExp.escape(text)), ...SECRET_SHAPES].join("|"), "g");
}

/**
 * Creates Moleculer's loggers. Its own messages (a service started, a node connected) are logged at `debug`, and only
 * its warnings and errors at `info`, which keeps a start quiet.
 */
export function moleculerLogger(log: Log): {
  level: string;
  createLogger: (level: string, of: LoggerBindings) => Log;
} {
  const level = log.level === "info" ? "warn" : log.level;
  return {
    level,
    createLogger: (level, { nodeID, mod }) => {
      const child = log.child({ node: nodeID, service: mod }, { level });
      return mod === "broker" ? quietFailures(child) : child;
    },
  };
}

interface LoggerBindings {
  nodeID: string;
  mod: string;
}

/** main reports a failed start in one line for people; the broker would report it again. */
function quietFailures(log: Log): Log {
  const { error } = log;
  log.error = function (this: Log, ...args: unknown[]) {
    if (args[0] !== "Unable to start all services.") error.apply(this, args as never);
  } as Log["error"];
  return log;
}
