/** The values of a field of a cron expression: `any`, every so many of all, or those listed. */
type Field = "any" | { every: number } | number[];

interface Range {
  least: number;
  most: number;
  names?: readonly string[];
}

const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const MINUTE = { least: 0, most: 59 };
const HOUR = { least: 0, most: 23 };
const DATE = { least: 1, most: 31 };
const MONTH = { least: 1, most: 12, names: ["", ...MONTHS] };
/** 7 is Sunday, too. */
const DAY = { least: 0, most: 7, names: DAYS };

const NICKNAMES: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
};

/** More times or dates than these are no words. */
const MOST_LISTED = 4;

/**
 * Says when a cron expression is due, such as "weekdays at 09:00".
 *
 * @returns null for one that few words do not describe
 */
export function cronInWords(cron: string): string | null {
  const [minute, hour, date, month, day, ...more] = (NICKNAMES[cron] ?? cron).trim().split(/\s+/);
  if (!day || more.length > 0) return null;
  const time = inDay(read(minute as string, MINUTE), read(hour as string, HOUR));
  const days = onDays(read(date as string, DATE), read(month as string, MONTH), read(day, DAY));
  if (time === null || days === null) return null;
  if ("at" in time) return `${days ?? "every day"} at ${time.at}`;
  return days ? `${time.each} on ${days}` : time.each;
}

/** @returns null for what has no words: characters like `L`, steps that do not come out even */
function read(text: string, range: Range): Field | null {
  if (text === "*" || text === "?") return "any";
  const [, step] = /^\*\/(\d+)$/.exec(text) ?? [];
  if (step === "1") return "any";
  if (step !== undefined) return readStep(Number(step), range);
  const parts = text.split(",").map((part) => readPart(part, range));
  if (parts.includes(null)) return null;
  return [...new Set(parts.flatMap((part) => part ?? []))].sort((a, b) => a - b);
}

function readStep(step: number, { least, most }: Range): Field | null {
  const isOfTime = least === 0 && (most === MINUTE.most || most === HOUR.most);
  if (isOfTime) return step > 0 && (most + 1) % step === 0 ? { every: step } : null;
  // Months are few enough to name.
  if (most !== MONTH.most || step < 1) return null;
  return Array.from({ length: Math.ceil(most / step) }, (_, i) => 1 + i * step);
}

function readPart(part: string, range: Range): number[] | null {
  const [first, last = first, ...more] = part.split("-").map((value) => readValue(value, range));
  if (first === undefined || first === null || last === null || last === undefined || more.length > 0)
    return null;
  return last < first ? null : Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function readValue(value: string, { least, most, names = [] }: Range): number | null {
  const named = names.findIndex((name) => name.slice(0, 3).toUpperCase() === value.toUpperCase());
  const number = /^\d+$/.test(value) ? Number(value) : named;
  return number >= least && number <= most ? number : null;
}

/** Returns times of the day, or what comes more than once in a day. */
function inDay(minute: Field | null, hour: Field | null): { at: string } | { each: string } | null {
  if (minute === null || hour === null) return null;
  if (Array.isArray(minute) && Array.isArray(hour) && minute.length * hour.length <= MOST_LISTED)
    return { at: listed(hour.flatMap((each) => minute.map((of) => clock(each, of)))) };
  const each = withinHour(minute, hour);
  if (each === null) return null;
  if (!Array.isArray(hour)) return { each };
  const [first, last] = [hour[0] as number, hour.at(-1) as number];
  if (last - first !== hour.length - 1) return null;
  const until = Array.isArray(minute) ? clock(last, minute.at(-1) as number) : clock(last, 59);
  return {
    each: `${each} from ${clock(first, Array.isArray(minute) ? (minute[0] as number) : 0)} to ${until}`,
  };
}

function withinHour(minute: Field, hour: Field): string | null {
  const isEvery = typeof hour === "object" && !Array.isArray(hour);
  if (Array.isArray(minute)) {
    const hours = isEvery ? often(hour.every, "hour") : "every hour";
    if (minute.length === 1 && (minute[0] === 0 || Array.isArray(hour))) return hours;
    if (minute.length > MOST_LISTED || Array.isArray(hour)) return null;
    return `${hours} at minute${minute.length > 1 ? "s" : ""} ${listed(minute.map(String))}`;
  }
  // Some minutes of some hours.
  if (isEvery) return null;
  return often(minute === "any" ? 1 : minute.every, "minute");
}

const often = (every: number, unit: string) => (every === 1 ? `every ${unit}` : `every ${every} ${unit}s`);

/** @returns undefined for every day; null for what has no words */
function onDays(date: Field | null, month: Field | null, day: Field | null): string | undefined | null {
  const fields = [date, month, day];
  if (fields.some((field) => field === null || (field !== "any" && !Array.isArray(field)))) return null;
  const [dates, months, days] = fields as ("any" | number[])[];
  // Either would do.
  if (dates !== "any" && days !== "any") return null;
  const names =
    months === "any" ? null : listed((months as number[]).map((each) => MONTH.names[each] as string));
  if (dates !== "any") {
    if ((dates as number[]).length > MOST_LISTED) return null;
    return `the ${listed((dates as number[]).map(ordinal))} of ${names ?? "each month"}`;
  }
  const which = days === "any" ? undefined : weekdays(days as number[]);
  return names ? `${which ?? "every day"} in ${names}` : which;
}

/** @returns undefined if these are all */
function weekdays(days: number[]): string | undefined {
  const week = [...new Set(days.map((each) => each % 7))].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
  const known = week.join("");
  if (week.length === 7) return undefined;
  if (known === "12345") return "weekdays";
  return known === "60" ? "weekends" : listed(week.map((each) => `${DAYS[each]}s`));
}

const clock = (hour: number, minute: number) =>
  [hour, minute].map((each) => String(each).padStart(2, "0")).join(":");

const ENDINGS: Record<number, string> = { 1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st" };
const ordinal = (date: number) => `${date}${ENDINGS[date] ?? "th"}`;

const LIST = new Intl.ListFormat("en-GB", { type: "conjunction" });
const listed = (texts: string[]) => LIST.format(texts);
