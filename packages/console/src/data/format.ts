const NUMBER = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
// Not `hour12: false`, which writes midnight as 24:00.
const hourCycle = "h23";
const DATE = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle,
});
const TIME = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle,
});
const HOUR_MINUTE = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle });
const FULL = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long", hourCycle });

export const number = (value: number) => NUMBER.format(value);
/** 12.3K, for tiles and charts. */
export const compact = (value: number) =>
  value < 10_000 ? NUMBER.format(Math.round(value * 10) / 10) : COMPACT.format(value);
export const dateTime = (at: string | Date) => DATE.format(new Date(at));
/** With milliseconds, for timelines. */
export const clockTime = (at: string | Date) => TIME.format(new Date(at));
export const hourMinute = (at: Date) => HOUR_MINUTE.format(at);
export const fullTime = (at: string | Date) => FULL.format(new Date(at));

const UNITS: [limit: number, size: number, name: string][] = [
  [60, 1, "s"],
  [3600, 60, "min"],
  [86_400, 3600, "h"],
  [Number.POSITIVE_INFINITY, 86_400, "d"],
];

/** 42 s, 3 min, 5 h, 12 d. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const [, size, name] = UNITS.find(([limit]) => seconds < limit) as (typeof UNITS)[number];
  return `${Math.floor(seconds / size)} ${name}`;
}

/** In two units: 1 h 42 min, 3 d 5 h. */
export function exactDuration(seconds: number): string {
  const [, size] = UNITS.find(([limit]) => seconds < limit) as (typeof UNITS)[number];
  const rest = seconds % size;
  const isWhole = size === 1 || rest < size / (size === 86_400 ? 24 : 60);
  return isWhole ? duration(seconds) : `${duration(seconds)} ${duration(rest)}`;
}

/** "3 min ago", "in 5 h". */
export function relative(at: string | Date, now = Date.now()): string {
  const seconds = (now - new Date(at).getTime()) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}

/** 1.4 MB */
export function bytes(size: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const at = Math.min(units.length - 1, size < 1 ? 0 : Math.floor(Math.log10(size) / 3));
  const value = size / 1000 ** at;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

/** 98.6 %; a dash for null. Never rounded up to 100 %: that would hide the failures. */
export function percent(share: number | null): string {
  if (share === null) return "–";
  // The sum hides the error of the product: 0.57 × 1000 is a little less than 570.
  return `${Math.floor(share * 1000 + 1e-6) / 10} %`;
}

/** "1 agent", "3 agents" */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Capitalises a code: "not_ready" becomes "Not ready". */
export const capitalised = (word: string) =>
  word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");

/** Splits a text at commas, without empty parts. */
export const listed = (text: string) => parts(text, ",");

/** Splits a text into its non-empty lines. */
export const linesOf = (text: string) => parts(text, "\n");

function parts(text: string, by: string): string[] {
  return text
    .split(by)
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Returns why a text is not JSON; nothing for an empty one. */
export function mistakeInJson(text: string): string | undefined {
  try {
    if (text.trim()) JSON.parse(text);
  } catch (error) {
    return `Invalid JSON: ${(error as Error).message}`;
  }
}

/** Returns a time as a field of type `datetime-local` shows it: in the browser's time zone, to the second. */
export function localTime(at: string): string {
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Returns the time of such a field as ISO 8601. */
export function timeOf(local: string): string {
  return new Date(local).toISOString();
}

type Empty = "" | false | null | undefined;
type MayBeEmpty<T, N extends keyof T> = [Extract<T[N], Empty>] extends [never] ? never : N;
type Filled<T> = { [N in keyof T as Exclude<N, MayBeEmpty<T, N>>]: T[N] } & {
  [N in keyof T as MayBeEmpty<T, N>]?: Exclude<T[N], Empty>;
};

/** Returns the parameters that have a value: operations take no empty ones. */
export const filled = <T extends object>(params: T): Filled<T> =>
  Object.fromEntries(
    Object.entries(params).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : Boolean(value))),
  ) as Filled<T>;

const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence begins with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-Z\\^-~])/g;

/** Returns a text without what colours it, or does something else, in a terminal. */
export const withoutSequences = (text: string) => text.replace(SEQUENCES, "");
