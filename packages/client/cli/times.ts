import { type Context, readList, text } from "./command.ts";
import { UsageError } from "./usage.ts";

const DAY_MS = 86_400_000;
const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };
const LONGEST_DAYS = 3650;

/** How the options of commands describe a time. */
export const TIME_FORMS =
  "such as 2026-12-31T18:00:00+01:00, or '2026-12-31 18:00' or 2026-12-31 in this machine's time zone";

/** A date, or a date and time, with an offset or without one. */
const TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)?)?$/;

/** Returns the time of `--at` or `--in` as RFC 3339, if one is given, and says if it is past. @throws UsageError */
export function readTime(context: Context): string | undefined {
  const at = text(context, "at");
  const span = text(context, "in");
  if (at !== undefined && span !== undefined) throw new UsageError("Give --at or --in, not both.");
  if (span !== undefined) return new Date(Date.now() + parseSpan("in", span)).toISOString();
  if (at === undefined) return undefined;
  const time = parseTime("at", at);
  if (Date.parse(time) < Date.now()) context.telling.note(`Warning: --at is ${time}, which is past.`);
  return time;
}

/**
 * Returns an option's time as RFC 3339. Seconds may be missing, and the T may be a space; without an offset it is in this
 * machine's time zone. A date alone is the beginning of that day.
 *
 * @throws UsageError also if there is no such day or time
 */
export function parseTime(name: string, typed: string): string {
  const [, day, minutes = "00:00", seconds = ":00", offset] = TIME.exec(typed.trim()) ?? [];
  if (day === undefined) throw new UsageError(`--${name} is ${typed}: expected a time, ${TIME_FORMS}.`);
  const written = `${day}T${minutes}${seconds}`;
  const time = new Date(`${written}${offset?.toUpperCase() ?? ""}`);
  // Date takes the 30th of February for the 2nd of March, and the hour that a clock skips for the next.
  const shown = new Date(
    offset === undefined ? time.getTime() - time.getTimezoneOffset() * 60_000 : `${written}Z`,
  );
  if (Number.isNaN(time.getTime()) || !shown.toISOString().startsWith(`${day}T${minutes}`))
    throw new UsageError(`--${name} is ${typed}: there is no such time.`);
  return time.toISOString();
}

/** Returns the milliseconds of an option such as `90s`. @throws UsageError */
export function readDuration(context: Context, name: string, fallback: string): number {
  return parseSpan(name, text(context, name) ?? fallback);
}

/** Returns the seconds before each retry, given as `10s,1m`. @throws UsageError */
export const readDelays = (context: Context): number[] | undefined =>
  readList(context, "retry-delays")?.map((each) => parseSpan("retry-delays", each) / 1000);

function parseSpan(name: string, span: string): number {
  const [, count, unit] = /^(\d{1,9})\s*([smhd])$/.exec(span) ?? [];
  if (count === undefined)
    throw new UsageError(`--${name} is ${span}: expected a duration like 90s, 15m, 2h or 7d.`);
  const ms = Number(count) * (UNITS[unit as string] as number);
  if (ms > LONGEST_DAYS * DAY_MS)
    throw new UsageError(`--${name} is ${span}: expected at most ${LONGEST_DAYS}d.`);
  return ms;
}
