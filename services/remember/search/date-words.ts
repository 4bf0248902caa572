import { DAY_MS } from "../../../lib/time.ts";

/** A time that a query names: milliseconds since 1970 (UTC), `to` exclusive. */
export interface DateRange {
  from: number;
  to: number;
  /** No year was named: the same days of any year match. */
  yearly: boolean;
}

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const SHORT_MONTHS = MONTHS.map((month) => month.slice(0, 3));
const MONTH = `(?<month>${MONTHS.join("|")}|${SHORT_MONTHS.join("|")}|sept)\\b\\.?`;
const DAY_OF_MONTH = "(?<day>[0-3]?\\d)(?:st|nd|rd|th)?";
const YEAR = "(?<year>(?:19|20)\\d\\d)";

/** Tried in this order; text that one has matched is hidden from the next. */
const PATTERNS: [RegExp, (groups: Groups, now: number) => DateRange | undefined][] = [
  [/\b(?<year>\d{4})-(?<month>\d\d)(?:-(?<day>\d\d))?\b/, calendar],
  [new RegExp(`\\b${DAY_OF_MONTH}(?: of)? ${MONTH}(?:,? ${YEAR})?`), calendar],
  [new RegExp(`\\b${MONTH} ${DAY_OF_MONTH}\\b(?:,? ${YEAR})?`), calendar],
  [new RegExp(`\\b${MONTH}(?: of)?,? ${YEAR}\\b`), calendar],
  // Without a number, "may" and "march" are more often verbs.
  [new RegExp(`\\b(?:in|of|since|during|until|last|this|early|late|mid) ${MONTH}`), calendar],
  [
    new RegExp(`\\b${MONTHS.filter((month) => month !== "may" && month !== "march").join("|")}\\b`),
    namedMonth,
  ],
  [new RegExp(`\\b${YEAR}\\b`), calendar],
  [/\b(?<count>\d{1,3}|an?|two|three|four|five|six) (?<unit>day|week|month|year)s? ago\b/, ago],
  [/\b(?:last|past) (?<count>\d{1,3}|two|three|four|five|six) (?<unit>day|week|month|year)s\b/, lately],
  [/\b(?<which>this|last) (?<unit>week|month|year)\b/, calendarUnit],
  [/\b(?<which>today|tonight|yesterday)\b/, nearDay],
];

type Groups = Partial<Record<"year" | "month" | "day" | "count" | "unit" | "which" | "all", string>>;

/** Finds dates and spans of time in a text: of the calendar, or relative to `now` (milliseconds). */
export function dateRanges(text: string, now: number): DateRange[] {
  let rest = text.toLowerCase();
  const found: DateRange[] = [];
  for (const [pattern, read] of PATTERNS) {
    rest = rest.replace(new RegExp(pattern, "g"), (...match) => {
      const last = match.at(-1);
      const groups: Groups = typeof last === "object" ? { ...last, all: match[0] } : { all: match[0] };
      const range = read(groups, now);
      if (range) found.push(range);
      return range ? " " : match[0];
    });
  }
  return found;
}

/**
 * Returns how near a time is to a range: 1 within it, decreasing to 0 at a distance of a week. People mention things
 * after they happened, so a time after the range is nearer than one before it.
 */
export function nearness(time: number, { from, to, yearly }: DateRange): number {
  const at = yearly ? sameYear(time, from) : time;
  if (at >= from && at < to) return 1;
  const days = (at < from ? (from - at) * 2 : at - to) / DAY_MS;
  return Math.max(0, 1 - days / 7) * 0.7;
}

/** Moves a time to the year of `reference`, or to an adjacent year if that is nearer. */
function sameYear(time: number, reference: number): number {
  const year = new Date(reference).getUTCFullYear();
  const [first = time, ...others] = [year, year - 1, year + 1].map((y) => new Date(time).setUTCFullYear(y));
  return others.reduce(
    (best, at) => (Math.abs(at - reference) < Math.abs(best - reference) ? at : best),
    first,
  );
}

function calendar({ year, month, day }: Groups): DateRange | undefined {
  const y = year === undefined ? 2000 : Number(year);
  const yearly = year === undefined;
  if (month === undefined) return { from: Date.UTC(y, 0), to: Date.UTC(y + 1, 0), yearly };
  const m = /^\d/.test(month) ? Number(month) - 1 : SHORT_MONTHS.indexOf(month.slice(0, 3));
  if (m < 0 || m > 11) return undefined;
  if (day === undefined) return { from: Date.UTC(y, m), to: Date.UTC(y, m + 1), yearly };
  const from = Date.UTC(y, m, Number(day));
  return new Date(from).getUTCDate() === Number(day) ? { from, to: from + DAY_MS, yearly } : undefined;
}

function namedMonth({ all }: Groups): DateRange | undefined {
  return calendar({ month: all });
}

function ago({ count, unit }: Groups, now: number): DateRange {
  const back = toNumber(count);
  const from = startOfPeriod(unit, now, back);
  return { from, to: startOfPeriod(unit, now, back - 1), yearly: false };
}

function lately({ count, unit }: Groups, now: number): DateRange {
  return { from: startOfPeriod(unit, now, toNumber(count)), to: now + 1, yearly: false };
}

function calendarUnit({ which, unit }: Groups, now: number): DateRange {
  const back = which === "last" ? 1 : 0;
  return { from: startOfPeriod(unit, now, back), to: startOfPeriod(unit, now, back - 1), yearly: false };
}

function nearDay({ which }: Groups, now: number): DateRange {
  const back = which === "yesterday" ? 1 : 0;
  return { from: startOfPeriod("day", now, back), to: startOfPeriod("day", now, back - 1), yearly: false };
}

/** Returns the start of the day, week (from Monday), month or year that lies `back` before that of `now`. */
function startOfPeriod(unit: string | undefined, now: number, back: number): number {
  const date = new Date(now);
  const [y, m, d] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === "year") return Date.UTC(y - back, 0);
  if (unit === "month") return Date.UTC(y, m - back);
  if (unit === "week") return Date.UTC(y, m, d - ((date.getUTCDay() + 6) % 7) - back * 7);
  return Date.UTC(y, m, d - back);
}

const NUMBER_WORDS = ["a", "two", "three", "four", "five", "six"];

function toNumber(count = "a"): number {
  const word = NUMBER_WORDS.indexOf(count === "an" ? "a" : count);
  return word < 0 ? Number(count) : word + 1;
}
