import { Duration } from "@marcbachmann/cel-js/evaluator";
import { charge } from "./cost.ts";

/** The part of a timestamp below a millisecond. A property, because cel-js recognises timestamps by their constructor. */
const FINER = Symbol("nanoseconds beyond the millisecond");
type Moment = Date & { [FINER]?: number };

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
const FIRST = BigInt(Date.parse("0001-01-01T00:00:00Z"));
const LAST = BigInt(Date.parse("9999-12-31T23:59:59.999Z"));
/** The maximum of a protobuf Duration, some 10,000 years. */
const MOST_SECONDS = 315_576_000_000n;

const TIME =
  /^(\d{4}-\d\d-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9})\d*)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

export function isMoment(value: unknown): value is Moment {
  return value instanceof Date;
}

export function isSpan(value: unknown): value is Duration {
  return value instanceof Duration;
}

/** Bigint arithmetic takes some hundred nanoseconds an operation. */
const PRICE = 5;
const PARSE_PRICE = 40;

/** Returns a timestamp as nanoseconds since the epoch, or a duration as nanoseconds. */
export function toNanos(value: Moment | Duration): bigint {
  charge(PRICE);
  if (isMoment(value)) return BigInt(value.getTime()) * MILLISECOND + BigInt(value[FINER] ?? 0);
  return value.seconds * SECOND + BigInt(value.nanos);
}

/** @throws RangeError outside the years 1 to 9999 */
export function toMoment(nanos: bigint): Moment {
  const finer = ((nanos % MILLISECOND) + MILLISECOND) % MILLISECOND;
  const ms = (nanos - finer) / MILLISECOND;
  if (ms < FIRST || ms > LAST) throw new RangeError("a timestamp must be in the years 1 to 9999");
  return Object.assign(new Date(Number(ms)), { [FINER]: Number(finer) });
}

/** @throws RangeError beyond 10,000 years */
export function toSpan(nanos: bigint): Duration {
  const seconds = nanos / SECOND;
  if (seconds > MOST_SECONDS || seconds < -MOST_SECONDS)
    throw new RangeError("a duration has at most 315,576,000,000 seconds");
  return new Duration(seconds, Number(nanos % SECOND));
}

/** Parses RFC 3339, refusing nonexistent days. @throws RangeError */
export function parseMoment(text: string): Moment {
  charge(PARSE_PRICE);
  const [, local, day, fraction = "", offset] = TIME.exec(text.slice(0, 100)) ?? [];
  // Date takes the 30th of February for the 2nd of March.
  if (local && new Date(`${local}Z`).getUTCDate() === Number(day)) {
    const ms = BigInt(Date.parse(`${local}${offset}`));
    return toMoment(ms * MILLISECOND + BigInt(fraction.padEnd(9, "0")));
  }
  throw new RangeError("timestamp() expects a date and time (RFC 3339), like 2026-01-31T09:30:00Z");
}

const UNITS: Record<string, bigint> = {
  ...{ h: 3600n * SECOND, m: 60n * SECOND, s: SECOND, ms: MILLISECOND },
  ...{ us: 1000n, µs: 1000n, μs: 1000n, ns: 1n },
};
const LONGEST = 100;
const SPAN = /^([+-]?)(0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const PART = /(\d*)\.?(\d*)([a-zµμ]+)/g;

/** Parses a duration in Go's form: `1h30m`, `-1.5s`. @throws RangeError */
export function parseSpan(text: string): Duration {
  charge(PARSE_PRICE);
  const [, sign, parts] = SPAN.exec(text.length > LONGEST ? "" : text) ?? [];
  if (!parts) throw new RangeError("duration() expects numbers with units, like 1h30m or -1.5s");
  let nanos = 0n;
  for (const [, whole, fraction = "", unit] of parts.matchAll(PART)) {
    const size = UNITS[unit as string] as bigint;
    nanos += BigInt(whole as string) * size + (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  return toSpan(sign === "-" ? -nanos : nanos);
}

/** Formats a timestamp as RFC 3339, a duration as seconds, with the necessary decimals. */
export function formatTime(value: Moment | Duration): string {
  const nanos = toNanos(value);
  const size = nanos < 0n && isSpan(value) ? -nanos : nanos;
  const beyond = ((size % SECOND) + SECOND) % SECOND;
  const fraction = beyond ? `.${String(beyond).padStart(9, "0").replace(/0+$/, "")}` : "";
  if (isMoment(value)) return `${value.toISOString().slice(0, 19)}${fraction}Z`;
  return `${nanos < 0n ? "-" : ""}${size / SECOND}${fraction}s`;
}

const DAY_MS = 86_400_000;

/** Applied to a time shifted into its zone. */
const GETTERS: Record<string, (at: Date) => number> = {
  getDate: (at) => at.getUTCDate(),
  getDayOfMonth: (at) => at.getUTCDate() - 1,
  getDayOfWeek: (at) => at.getUTCDay(),
  getDayOfYear: (at) => Math.floor((at.getTime() - new Date(at).setUTCMonth(0, 1)) / DAY_MS),
  getFullYear: (at) => at.getUTCFullYear(),
  getHours: (at) => at.getUTCHours(),
  getMilliseconds: (at) => at.getUTCMilliseconds(),
  getMinutes: (at) => at.getUTCMinutes(),
  getMonth: (at) => at.getUTCMonth(),
  getSeconds: (at) => at.getUTCSeconds(),
};
export const TIME_PARTS = Object.keys(GETTERS);

/** Returns a part of a timestamp, independent of this machine's time zone. @throws RangeError for an unknown zone */
export function readPart(name: string, moment: Moment, zone: string | undefined): bigint {
  const at = zone === undefined ? moment : shifted(moment, zone);
  return BigInt((GETTERS[name] as (at: Date) => number)(at));
}

const OFFSET = /^([+-]?)([01]?\d|2[0-3]):([0-5]\d)$/;

/** Returns a time whose parts in UTC are those of the moment in the zone. */
function shifted(moment: Date, zone: string): Date {
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (hours) {
    const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(moment.getTime() + (sign === "-" ? -ms : ms));
  }
  // Sweden writes `2026-01-31 09:30:00`; the form with a sign takes years of more and fewer than four digits.
  const local = moment.toLocaleString("sv-SE", { timeZone: zone }).replace(" ", "T").padStart(21, "0");
  return new Date(Date.parse(`+${local}Z`) + moment.getUTCMilliseconds());
}
