import { type Logger, pino } from "pino";
import type { Config } from "../config.ts";

/** The log of a node. Lines are JSON with `level`, `time` and `msg`; those about a request carry its ids. */
export type Log = Logger;

/** Fields that never reach a line, wherever they stand up to two objects deep. */
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

/** What a secret of ours looks like inside any other text: API keys, signing secrets, JWTs, passwords in URLs. */
const SECRET_SHAPES = [
  "ak_live_[A-Za-z0-9]+",
  "whsec_[A-Za-z0-9+/=_-]+",
  "eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]+",
  'Bearer [^\\s"\\\\]+',
  '(?<=//)[^\\s/"@]*:[^\\s/"@]*(?=@)',
];

const CENSORED = "[secret]";

const MOST_WAITING_BYTES = 8 * 1_048_576;

/** A shorter one is likely to be a part of ordinary words. */
const LEAST_SECRET = 8;

/**
 * Makes the log of a node. It is written to standard error, so that standard output stays for people.
 *
 * Secrets are taken out twice: by the name of the field, and by their shape in the finished line, because an error
 * message may quote anything.
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
        // Moleculer and many others log ("what happened", error or why), of which pino would drop the second.
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
 * Standard error may be a file on a full disk, or a pipe that nobody reads: then lines wait, as far as there is room, and
 * are lost, but the service goes on.
 */
function standardError(): { write(line: string): void } {
  const destination = pino.destination({ dest: 2, maxLength: MOST_WAITING_BYTES });
  let isBroken = false;
  destination.on("error", () => {
    isBroken = true;
  });
  destination.on("write", () => {
    isBroken = false;
  });
  const flush = destination.flushSync.bind(destination);
  // Called when the process ends, and would try for ever.
  destination.flushSync = () => {
    if (!isBroken) flush();
  };
  return destination;
}

/** The secrets of the configuration as they stand inside JSON, and everything that looks like a secret. */
function secretPattern({ SECRET_KEY, OPERATOR_TOKEN, METRICS_TOKEN }: Config): RegExp {
  const given = [SECRET_KEY, OPERATOR_TOKEN, METRICS_TOKEN].filter((value) => value !== null);
  const inJson = given
    .filter(({ length }) => length >= LEAST_SECRET)
    .map((value) => JSON.stringify(value).slice(1, -1));
  return new RegExp([...inJson.map((text) => RegExp.escape(text)), ...SECRET_SHAPES].join("|"), "g");
}

/**
 * How Moleculer gets its loggers. Its own news (a service started, a node connected) is told at `debug`; at `info`
 * only its warnings and errors are, so that a quiet start stays quiet.
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

/** A failed start is told by main, in one line for people; the broker would tell it a second time. */
function quietFailures(log: Log): Log {
  const { error } = log;
  log.error = function (this: Log, ...args: unknown[]) {
    if (args[0] !== "Unable to start all services.") error.apply(this, args as never);
  } as Log["error"];
  return log;
}
