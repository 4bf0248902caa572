import { fold } from "../../../lib/text/terms.ts";
import { DAY_MS } from "../../../lib/time.ts";

/** A time that a query names: milliseconds since 1970 (UTC), `to` exclusive. */
export interface DateRange {
  from: number;
  to: number;
  /** No year was named: the same days of any year match. */
  yearly: boolean;
  /** The time before it is asked for: "until May". */
  isEnd?: boolean;
}

/** English, German, Spanish and French; other words of dates below are of these too, without accents. */
const LOCALES = ["en", "de", "es", "fr"];
const MONTHS = new Map(LOCALES.flatMap(namesOfMonths));

function namesOfMonths(locale: string): [string, number][] {
  const names = (month: "long" | "short") => {
    const format = new Intl.DateTimeFormat(locale, { month, timeZone: "UTC" });
    return Array.from({ length: 12 }, (_, m): [string, number] => [
      fold(format.format(Date.UTC(2000, m))).replace(".", ""),
      m,
    ]);
  };
  return locale === "en" ? [...names("long"), ...names("short"), ["sept", 8]] : names("long");
}

const SEASONS = new Map(
  Object.entries({
    2: "spring fruhling fruhjahr primavera printemps",
    5: "summer sommer verano ete",
    8: "autumn herbst otono automne",
    11: "winter invierno hiver",
  }).flatMap(([month, names]) => names.split(" ").map((name): [string, number] => [name, Number(month)])),
);

const UNITS: Record<string, RegExp> = {
  day: /^(?:days?|tage?n?|dias?|jours?)$/,
  week: /^(?:weeks?|wochen?|semanas?|semaines?)$/,
  month: /^(?:months?|monate?n?|mes(?:es)?|mois)$/,
};
const UNIT =
  "(?<unit>days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|dias?|semanas?|mes(?:es)?|anos?|jours?|semaines?|mois|ans?|annees?)\\b";
const NUMBERS = [
  ["a", "an", "one", "einem", "einer", "un", "una", "une"],
  ["two", "zwei", "dos", "deux"],
  ["three", "drei", "tres", "trois"],
  ["four", "vier", "cuatro", "quatre"],
  ["five", "funf", "cinco", "cinq"],
  ["six", "sechs", "seis"],
];
const COUNT = `(?<count>\\d{1,3}|${NUMBERS.flat().join("|")})`;

const MONTH = `(?<month>${[...MONTHS.keys()].sort((a, b) => b.length - a.length).join("|")})\\b\\.?`;
const SEASON = `(?<season>${[...SEASONS.keys()].join("|")})\\b`;
const DAY_OF_MONTH = "(?<day>[0-3]?\\d)(?:st|nd|rd|th|er|\\.)?";
const YEAR = "(?<year>(?:19|20)\\d\\d)";
const LAST = "last|past|vergangene[nmrs]?|letzte[nmrs]?|vorige[nmrs]?";
const AFTERWARDS = "(?: (?:passee?|pasad[oa]|dernier|derniere))";
const IN = `in(?: the)?|of|during|until|before|${LAST}|this|early|late|mid|im|vom|bis|diese[nmrs]?|en(?: la| el)?|hasta|del?|la|el|le|l'|au|cet`;

/** Tried in this order; text that one has matched is hidden from the next. */
const PATTERNS: [string, (groups: Groups, now: number) => DateRange | undefined][] = [
  ["\\b(?<year>\\d{4})-(?<month>\\d\\d)(?:-(?<day>\\d\\d))?\\b", calendar],
  [`\\b${DAY_OF_MONTH}(?: of| de)? ${MONTH}(?:,?(?: de| del)? ${YEAR})?`, calendar],
  [`\\b${MONTH} ${DAY_OF_MONTH}\\b(?:,? ${YEAR})?`, calendar],
  [`\\b${MONTH}(?: of| de| del)?,? ${YEAR}\\b`, calendar],
  // Without a number, "may", "march" and "mars" are more often other words.
  [`\\b(?:since|seit|desde|depuis|${IN}) ?${MONTH}${AFTERWARDS}?`, calendar],
  [
    `\\b(?!(?:may|march|mars)\\b)(?<month>${[...MONTHS.keys()].filter((name) => name.length > 4 || name === "juni" || name === "juli").join("|")})\\b`,
    calendar,
  ],
  [`\\b(?:(?:${IN}) ?${SEASON}(?:${AFTERWARDS}| (?:of |de )?${YEAR})?|${SEASON}${AFTERWARDS})`, season],
  [`\\b${YEAR}\\b`, calendar],
  [`\\b(?:${COUNT} ${UNIT} ago\\b|(?:vor|hace|il y a) ${COUNT} ${UNIT})`, ago],
  [`\\b(?:${LAST}) ${COUNT} ${UNIT}`, lately],
  [`\\b(?:(?<which>this|${LAST}) ${UNIT}|(?:l'|le |la |el )?${UNIT}(?<which>${AFTERWARDS}))`, calendarUnit],
  ["\\b(?<which>today|tonight|yesterday|heute|gestern|hoy|ayer|aujourd'hui)\\b", nearDay],
];

type Groups = Partial<Record<"year" | "month" | "day" | "count" | "unit" | "which" | "season", string>>;

const COMPILED = PATTERNS.map(([pattern, read]) => ({ pattern: new RegExp(pattern, "g"), read }));
const END = /\b(?:until|till|before|bis|bevor|hasta|antes|jusqu|avant)\b[^.?!]*$/;

/** Finds dates and spans of time in a text: of the calendar, or relative to `now` (milliseconds); `rest` is without them. */
export function readDates(text: string, now: number): { dates: DateRange[]; rest: string } {
  let rest = text.normalize("NFC").replaceAll("’", "'");
  let folded = fold(rest);
  // As many characters, so that both stay in step.
  if (folded.length !== rest.length) folded = [...rest].map(plainLetter).join("");
  const dates: DateRange[] = [];
  for (const { pattern, read } of COMPILED) {
    folded = folded.replace(pattern, (...match) => {
      const groups: Groups = match.at(-1);
      const [all, at] = [match[0] as string, match.at(-3) as number];
      const range = read(groups, now);
      if (!range) return all;
      const isEnd = END.test(folded.slice(0, at + all.length));
      dates.push(isEnd ? { ...range, isEnd } : range);
      rest = `${rest.slice(0, at)}${" ".repeat(all.length)}${rest.slice(at + all.length)}`;
      return " ".repeat(all.length);
    });
  }
  return { dates, rest };
}

/** Returns a letter in lower case and without its accent, if that is one too. */
function plainLetter(letter: string): string {
  const plain = fold(letter);
  return plain.length === letter.length ? plain : letter;
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

/** Words of questions in the present or the future, but not of those about the past. */
const PRESENT =
  /\b(?:is|are|does|do|will|shall|can|should|must|next|ist|sind|wird|werden|kann|soll|muss|nachste[nmrs]?|est|sont|peut|doit|prochaine?|sera|esta|estan|puede|debe|proxim[oa])\b/;
const SINCE = /\b(?:since|seit|desde|depuis)\b/;
const PAST =
  /\b(?:was|were|did|had|used|war|waren|wurden?|hatten?|hat|haben|etait|etaient|avait|ont|fue|fueron|era|eran|estaba|estaban|habia|tenia|hubo)\b/;

/**
 * Returns the time in the past that a query asks for, if it names one: a month without a year is the last one, unless the
 * query is about the present or the future. A time that goes on is the present.
 */
export function pastOf(text: string, dates: readonly DateRange[], now: number): DateRange | null {
  const [range] = dates;
  if (!range) return null;
  const folded = fold(text);
  if (SINCE.test(folded) || (range.yearly && PRESENT.test(folded) && !PAST.test(folded))) return null;
  const last = range.yearly ? lastBefore(range, now) : range;
  if (last.isEnd) return last.from <= now ? { ...last, from: last.from - DAY_MS, to: last.from } : null;
  return last.to <= now ? last : null;
}

function lastBefore(range: DateRange, now: number): DateRange {
  const year = new Date(range.from).getUTCFullYear();
  const inYear = (time: number, y: number) => {
    const at = new Date(time);
    return at.setUTCFullYear(at.getUTCFullYear() + y - year);
  };
  const current = new Date(now).getUTCFullYear();
  const [from, to] = [range.from, range.to].map((time) => inYear(time, current)) as [number, number];
  const isOver = range.isEnd ? from <= now : to <= now;
  if (isOver) return { ...range, from, to };
  return { ...range, from: inYear(range.from, current - 1), to: inYear(range.to, current - 1) };
}

function calendar({ year, month, day }: Groups): DateRange | undefined {
  const y = year === undefined ? 2000 : Number(year);
  const yearly = year === undefined;
  if (month === undefined) return { from: Date.UTC(y, 0), to: Date.UTC(y + 1, 0), yearly };
  const m = MONTHS.get(month) ?? Number(month) - 1;
  if (m < 0 || m > 11) return undefined;
  if (day === undefined) return { from: Date.UTC(y, m), to: Date.UTC(y, m + 1), yearly };
  const from = Date.UTC(y, m, Number(day));
  return new Date(from).getUTCDate() === Number(day) ? { from, to: from + DAY_MS, yearly } : undefined;
}

/** Three months, as meteorologists count them on the northern half; winter begins in the year before. */
function season({ season: name = "", year }: Groups): DateRange {
  const m = SEASONS.get(name) as number;
  const y = (year === undefined ? 2000 : Number(year)) - (m === 11 ? 1 : 0);
  return { from: Date.UTC(y, m), to: Date.UTC(y, m + 3), yearly: year === undefined };
}

function ago({ count, unit }: Groups, now: number): DateRange {
  const back = toNumber(count);
  return { from: startOfPeriod(unit, now, back), to: startOfPeriod(unit, now, back - 1), yearly: false };
}

function lately({ count, unit }: Groups, now: number): DateRange {
  return { from: startOfPeriod(unit, now, toNumber(count)), to: now + 1, yearly: false };
}

function calendarUnit({ which, unit }: Groups, now: number): DateRange {
  const back = which === "this" ? 0 : 1;
  return { from: startOfPeriod(unit, now, back), to: startOfPeriod(unit, now, back - 1), yearly: false };
}

const YESTERDAY = ["yesterday", "gestern", "ayer"];

function nearDay({ which = "" }: Groups, now: number): DateRange {
  const back = YESTERDAY.includes(which) ? 1 : 0;
  return { from: startOfPeriod("day", now, back), to: startOfPeriod("day", now, back - 1), yearly: false };
}

/** Returns the start of the day, week (from Monday), month or year that lies `back` before that of `now`. */
function startOfPeriod(unit = "", now: number, back: number): number {
  const date = new Date(now);
  const [y, m, d] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (UNITS.day?.test(unit)) return Date.UTC(y, m, d - back);
  if (UNITS.month?.test(unit)) return Date.UTC(y, m - back);
  if (UNITS.week?.test(unit)) return Date.UTC(y, m, d - ((date.getUTCDay() + 6) % 7) - back * 7);
  return Date.UTC(y - back, 0);
}

function toNumber(count = "a"): number {
  const number = NUMBERS.findIndex((words) => words.includes(count));
  return number < 0 ? Number(count) : number + 1;
}
