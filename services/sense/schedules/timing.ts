import { Cron } from "croner";
import cronstrue from "cronstrue";
import { invalidValue } from "../../../lib/contract/faults.ts";
import type { OnMissed } from "./schedules.contract.ts";
import type { ScheduleDoc } from "./schedules.model.ts";

/** When a schedule publishes: at the ticks of a cron expression in a time zone, or once. */
export type Timing = { cron: string; time_zone: string } | { at: Date };

/** The same as rows have it: either is null. */
export type When = Pick<ScheduleDoc, "cron" | "time_zone" | "at">;

/** Handling of the due ticks of a schedule. */
export interface Plan {
  /** The ticks to publish, oldest first. */
  publish: Date[];
  /** The latest tick that is not published. */
  missed: Date | null;
  /** The first tick that is not due yet; null if there is none. */
  next: Date | null;
}

const NEITHER = "Neither cron nor at is given. Give cron for repeated events, at for one.";
const FIELDS = "five fields: minute, hour, day of month, month, day of week";
/** A tick this late still counts as on time. */
const ON_TIME_MS = 60_000;
/** Ticks of a schedule that are made up for. */
export const MOST_MADE_UP = 100;
/** Ticks that a test of a schedule returns. */
const TESTED = 5;

/** Reads when a schedule publishes: by `cron` with `time_zone`, or `at` a later time. @throws Fault validation_error */
export function readTiming({ cron, time_zone, at }: When, now: number): Timing {
  if (cron !== null && at !== null)
    throw invalidValue("at", "Both cron and at are given. Give cron for repeated events, at for one.");
  if (at !== null) {
    if (at.getTime() > now) return { at };
    const message = `at: expected a time in the future, got ${at.toISOString()}. Publish the event at once, or give a later time.`;
    throw invalidValue("at", message, { value: at.toISOString() });
  }
  if (cron === null) throw invalidValue("cron", NEITHER);
  checkTimeZone(time_zone);
  const timing = { cron, time_zone };
  if (compile(timing).nextRun(new Date(now))) return timing;
  const message = `cron: "${cron}" is never due. Give one with a date that exists.`;
  throw invalidValue("cron", message, { value: cron });
}

/** Says when a schedule is due: "At 09:00, Monday through Friday, Europe/Berlin". */
export function inWords({ cron, time_zone, at }: Partial<When>): string {
  if (cron) return `${cronInWords(cron)}, ${time_zone}`;
  return `once at ${(at as Date).toISOString()}`;
}

/** Returns the expression itself if it has no words. */
function cronInWords(cron: string): string {
  const [, , date, , day] = cron.trim().split(/\s+/);
  const isEither = [date, day].every((field = "*") => field !== "*" && field !== "?");
  // One of them is enough; cronstrue says that both must match, and has no words for `*,1`.
  if (isEither || /\*,|,\*/.test(cron)) return cron;
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true });
  } catch {
    return cron;
  }
}

/** Returns the first tick after a time; null if there is none. */
export function tickAfter(timing: Timing, time: number): Date | null {
  if ("at" in timing) return timing.at.getTime() > time ? timing.at : null;
  return compile(timing).nextRun(new Date(time));
}

/** Returns the first ticks after a time. */
export function ticksAfter(timing: Timing, time: number): Date[] {
  if ("at" in timing) return [timing.at];
  return compile(timing).nextRuns(TESTED, new Date(time));
}

/**
 * Decides about the ticks that are due. The latest one is published if it is on time. Missed ones are skipped, or the
 * latest is published (`run_once`), or all are, up to a number (`run_all`).
 *
 * @param first the first tick that is not settled, which is due
 */
export function planTicks(timing: Timing, first: Date, now: number, on_missed: OnMissed): Plan {
  const limit = on_missed === "run_all" ? MOST_MADE_UP : 1;
  // One more, which is missed.
  const due = ticksUntil(timing, first, now, limit + 1);
  const next = tickAfter(timing, now);
  const isLate = now - (due.at(-1) as Date).getTime() > ON_TIME_MS;
  if (on_missed === "skip" && isLate) return { publish: [], missed: due.at(-1) ?? null, next };
  const publish = due.slice(-limit);
  return { publish, missed: due.at(-limit - 1) ?? null, next };
}

/** Returns the latest of the ticks from one until now, oldest first. */
function ticksUntil(timing: Timing, first: Date, now: number, most: number): Date[] {
  const second = tickAfter(timing, first.getTime());
  if ("at" in timing || !second || second.getTime() > now) return [first];
  // Before the next second, because the reference itself is excluded.
  const latest = compile(timing).previousRuns(most, new Date(Math.floor(now / 1000) * 1000 + 1000));
  return latest.filter((tick) => tick >= first).reverse();
}

/** @throws Fault validation_error */
function compile({ cron, time_zone }: { cron: string; time_zone: string }): Cron {
  try {
    return new Cron(cron, { timezone: time_zone, mode: "5-part", paused: true });
  } catch (err) {
    const fields = cron.trim().split(/\s+/);
    const why = wrappingRange(fields) ?? (err as Error).message.replace(/^CronPattern: |\.$/g, "");
    const message =
      fields.length === 5
        ? `cron: ${why}. Correct one of the ${FIELDS}.`
        : `cron: expected ${FIELDS}; got ${fields.length}.`;
    throw invalidValue("cron", message, { value: cron });
  }
}

/** The values of each field. Sunday is 7: it ends a week here. */
const VALUES: { min: number; max: number; names?: readonly string[] }[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ") },
  { min: 1, max: 7, names: "MON TUE WED THU FRI SAT SUN".split(" ") },
];

/** Explains the first range that goes on after the largest value, such as `22-4`; null if there is none. */
function wrappingRange(fields: readonly string[]): string | null {
  for (const [i, { min, max, names }] of VALUES.entries()) {
    for (const range of fields[i]?.split(",") ?? []) {
      const [, start = "", end = "", step] = /^(\w+)-(\w+)(?:\/(\d+))?$/.exec(range) ?? [];
      const numberOf = (text: string) =>
        names?.includes(text.toUpperCase()) ? min + names.indexOf(text.toUpperCase()) : Number(text);
      const [from, to] = [numberOf(start), numberOf(end)];
      if (!(from > to && from <= max && to >= 0)) continue;
      const shown = (value: number) => (Number.isNaN(Number(end)) ? names?.[value - min] : value);
      const between = (first: number, last: number) =>
        first < last ? `${shown(first)}-${shown(last)}` : `${shown(last)}`;
      // Sunday is 0 too.
      const parts = [between(from, max), ...(to < min ? [] : [between(min, to)])];
      const size = max - min + 1;
      const all = Array.from({ length: size + to - from + 1 }, (_, at) => from + at);
      const stepped = all
        .filter((_, at) => at % Number(step) === 0)
        .map((value) => (value > max ? value - size : value));
      return `${range} ends before it begins: write ${(step ? stepped.map(shown) : parts).join(",")}`;
    }
  }
  return null;
}

/** @throws Fault validation_error */
function checkTimeZone(time_zone: string): void {
  // Offsets are no names, and know no daylight saving.
  if (/^[A-Za-z]/.test(time_zone)) {
    try {
      new Intl.DateTimeFormat("en", { timeZone: time_zone });
      return;
    } catch {}
  }
  const message = `time_zone: expected an IANA name such as Europe/Berlin or UTC, got "${time_zone}".`;
  throw invalidValue("time_zone", message, { value: time_zone });
}
