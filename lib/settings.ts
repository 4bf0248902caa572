import { randomBytes } from "node:crypto";
import { compile as compileProxies } from "proxy-addr";
import { editDistance, nearest, plain } from "./contract/nearest.ts";
import { credentialsFault } from "./http/address-credentials.ts";

type Kind =
  | "text"
  | "integer"
  | "integers"
  | "number"
  | "boolean"
  | "url"
  | "servers"
  | "list"
  | "proxies"
  | "key"
  | "keys";

export interface Setting<T> {
  kind: Kind;
  default: T;
  means: string;
  /** Inclusive bounds of each number. */
  min?: number;
  max?: number;
  /** Allowed beginnings of a `url`. */
  schemes?: readonly string[];
  /** The form of `servers`, one or several separated by commas, and its description. */
  form?: { pattern: RegExp; description: string };
  /** The least number of characters of a secret, or of each of several: a shorter one is replaced by one that nobody knows. */
  least?: number;
  /** The only values allowed. */
  oneOf?: readonly string[];
  /** The value never appears in a log or an error. */
  secret?: boolean;
}

/** Builders of settings, with their defaults and what they mean. */
export const text = (fallback: string | null, means: string, more: Partial<Setting<string | null>> = {}) =>
  ({ kind: "text", default: fallback, means, ...more }) as Setting<string | null>;
export const url = (schemes: readonly string[], means: string) =>
  ({ kind: "url", default: null, schemes, means }) as Setting<string | null>;
export const web = (means: string) => url(["http://", "https://"], means);
export const servers = (pattern: RegExp, description: string, means: string) =>
  ({ kind: "servers", default: null, form: { pattern, description }, means, secret: true }) as Setting<
    string | null
  >;
export const flag = (fallback: boolean, means: string) =>
  ({ kind: "boolean", default: fallback, means }) as Setting<boolean>;
export const list = (
  fallback: readonly string[],
  means: string,
  more: { secret?: boolean; least?: number } = {},
) => ({ kind: "list", default: fallback, means, ...more }) as Setting<readonly string[]>;
export const key = (means: string) =>
  ({ kind: "key", default: null, means, secret: true }) as Setting<string | null>;
export const keys = (means: string) =>
  ({ kind: "keys", default: [], means, secret: true }) as Setting<readonly string[]>;
export const integer = (fallback: number, means: string, min: number, max: number) =>
  ({ kind: "integer", default: fallback, means, min, max }) as Setting<number>;
export const number = (fallback: number, means: string, min: number, max: number) =>
  ({ kind: "number", default: fallback, means, min, max }) as Setting<number>;
export const integers = (fallback: readonly number[], means: string, min: number, max: number) =>
  ({ kind: "integers", default: fallback, means, min, max }) as Setting<readonly number[]>;

/** A setting that cannot be used: the service reports it in one line and does not start. */
export class ConfigError extends Error {}

/** First words of settings that other programs' variables have, too: there the second word says whose it is. */
const SHARED =
  /^(AUDIT|BACKUP|BUNDLE|CONNECTOR|DATA|DEVICE|DNS|DOCUMENT|EVENT|EXPORT|HOST|LOG|LOGIN|MAX|MEMORY|MIN|OAUTH|OUTPUT|PASSWORD|PORT|PUBLIC|PUSH|RATE|REQUEST|SECRET|SERVICES|SESSION|STATS|TENANT|TRUST)$/;

/** Reports a variable that begins like a setting, or is a slip away from one, as the mistake it is. @throws ConfigError */
export function requireKnown(env: NodeJS.ProcessEnv, names: readonly string[]): void {
  for (const name of Object.keys(env)) {
    if (names.includes(name) || isServiceLink(name, env)) continue;
    const ours = names.filter((each) => beginsLike(name, each) || isSlip(name, each));
    if (ours.length === 0) continue;
    const like = nearest(name, ours);
    const meant = like?.close ? ` Did you mean ${like.name}?` : "";
    throw new ConfigError(
      `${name} is not a setting.${meant} Remove it, or see docs/reference/settings.md for the right name.`,
    );
  }
}

function beginsLike(name: string, setting: string): boolean {
  const [first = "", second] = setting.split("_");
  // OpenTelemetry's other variables are read by its SDK.
  if (first === "OTEL") return false;
  if (!SHARED.test(first)) return name.startsWith(first);
  return second !== undefined && name.startsWith(`${first}_${second}`);
}

/** Whether a letter is wrong or swapped, or two of a long name. Words alone, in small letters or the plural, are others'. */
function isSlip(name: string, setting: string): boolean {
  const [typed, meant] = [plain(name), plain(setting)];
  if (Math.abs(typed.length - meant.length) > 2) return false;
  // A slip leaves the beginning or the end of a long name: most are not compared.
  if (typed.length > 5 && typed.slice(0, 2) !== meant.slice(0, 2) && typed.slice(-2) !== meant.slice(-2))
    return false;
  const isSwap = [...typed].sort().join() === [...meant].sort().join();
  if (editDistance(typed, meant) > (isSwap || typed.length > 9 ? 2 : 1)) return false;
  const isPlural = `${typed}s` === meant || `${meant}s` === typed;
  return setting.includes("_") || (/[A-Z]/.test(name) && !isPlural && (isSwap || meant.length > 5));
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

const KEY_BYTES = 32;

/** Returns the value of a setting. @throws ConfigError with the variable, the given value and what is allowed */
export function readSetting(name: string, setting: Setting<unknown>, text: string | undefined): unknown {
  if (text === undefined || text === "") return setting.default;
  const isAddress = setting.kind === "url" || setting.kind === "servers";
  const isSecret = setting.secret || (isAddress && text.includes("@"));
  const fail = (allowed: string) => {
    throw new ConfigError(
      `${name} is ${isSecret ? "malformed" : JSON.stringify(text)}: expected ${allowed}.`,
    );
  };
  if (isAddress) requireClear(name, text);
  switch (setting.kind) {
    case "integer":
    case "number":
      return readNumber(text, setting, fail);
    case "integers":
      return Object.freeze(readList(text).map((each) => readNumber(each, setting, fail)));
    case "boolean":
      return { true: true, "1": true, false: false, "0": false }[text] ?? fail("true or false");
    case "url":
      // The parser alone would take the host of "example.com:443" for a scheme.
      if (!setting.schemes?.some((scheme) => text.startsWith(scheme)) || !URL.canParse(text))
        fail(`a URL that begins with ${setting.schemes?.join(" or ")}`);
      // Requests to it would fail, with the credentials in the error.
      if (!setting.secret && new URL(text).username + new URL(text).password)
        fail("a URL without user name and password");
      return text;
    case "servers":
      return setting.form?.pattern.test(text) ? text : fail(setting.form?.description as string);
    case "list":
      return Object.freeze(readList(text).map((each) => longEnough(each, setting)));
    case "proxies":
      return areProxies(readList(text))
        ? readList(text)
        : fail(
            "IP addresses, ranges such as 10.0.0.0/8, or loopback, linklocal or uniquelocal, comma-separated",
          );
    case "key":
      return isKey(text) ? text : fail(`${KEY_BYTES} bytes in base64`);
    case "keys":
      return readList(text).every(isKey)
        ? readList(text)
        : fail(`keys of ${KEY_BYTES} bytes in base64, comma-separated`);
    case "text":
      if (setting.oneOf && !setting.oneOf.includes(text)) fail(`one of ${setting.oneOf.join(", ")}`);
      return longEnough(text, setting);
  }
}

/** Returns the names that a setting selects: none given is all, `-` before each all others. @throws ConfigError */
export function selectNames(setting: string, wanted: readonly string[], all: readonly string[]): string[] {
  const names = wanted.map((name) => name.replace(/^-/, ""));
  const unknown = names.find((name) => !all.includes(name));
  if (unknown)
    throw new ConfigError(`${setting} contains "${unknown}": expected ${all.join(", ") || "none"}.`);
  const left = wanted.filter((name) => name.startsWith("-")).length;
  if (left === 0) return wanted.length ? names : [...all];
  if (left < wanted.length)
    throw new ConfigError(
      `${setting} mixes names with and without \`-\`: expected either the ones to run, or those not to run.`,
    );
  return all.filter((name) => !names.includes(name));
}

/** Whether a given secret, or one of several, is too short to count. */
export function isTooShort({ kind, least = 0 }: Setting<unknown>, text = ""): boolean {
  return text !== "" && (kind === "list" ? readList(text) : [text]).some(({ length }) => length < least);
}

function longEnough(text: string, { least = 0 }: Setting<unknown>): string {
  return text.length < least ? randomBytes(least).toString("base64url") : text;
}

const isKey = (given: string) => Buffer.from(given, "base64").length === KEY_BYTES;

/** @throws ConfigError, which never repeats the value, for credentials that can be read in several ways */
function requireClear(name: string, text: string): void {
  const fault = text
    .split(/,(?=[a-z]+:\/\/)/)
    .map(credentialsFault)
    .find((each) => each !== null);
  if (fault) throw new ConfigError(`${name} is malformed: ${fault}.`);
}

/** Items are separated by commas; `\\,` is a comma inside one, and any other backslash itself (`DOMAIN\\group`). */
function readList(text: string): readonly string[] {
  const items = text.split(/(?<!\\),/).map((item) => item.trim().replaceAll("\\,", ","));
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

const NUMBERS: Partial<Record<Kind, string>> = {
  integer: "a whole number",
  integers: "whole numbers, comma-separated, each",
  number: "a number",
};

function readNumber(
  text: string,
  { kind, min = 0, max = 0 }: Setting<unknown>,
  fail: (allowed: string) => void,
): number {
  const value = Number(text);
  const form = kind === "number" ? /^\d*\.?\d+(e-?\d+)?$/ : /^-?\d+$/;
  if (!form.test(text) || value < min || value > max) fail(`${NUMBERS[kind]} from ${min} to ${max}`);
  return value;
}

/** Whether Kubernetes set a variable for a service, such as `nats`: `NATS_SERVICE_HOST`, `NATS_PORT_4222_TCP` … */
function isServiceLink(name: string, env: NodeJS.ProcessEnv): boolean {
  const [, service] = /^(.+?)_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_|$)/.exec(name) ?? [];
  return service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined;
}
