import { paint, type Style } from "./colour.ts";
import { UsageError } from "./usage.ts";

/**
 * A column: its heading, the text of a row, and the colour of that text.
 */
export type Column<Row> = [
  string,
  (row: Row) => string | number | null | undefined,
  colour?: (row: Row) => Style | undefined,
];

/** Returns rows under a header, aligned. Where they are wider than `width`, the widest columns but ids are cut. */
export function formatTable<Row>(rows: readonly Row[], columns: Column<Row>[], width = Infinity): string {
  const cells = rows.map((row) => columns.map(([, of]) => oneLine(of(row))));
  const names = columns.map(([name]) => name);
  const widths = fitWidths(
    names.map((name, at) => Math.max(name.length, ...cells.map((line) => (line[at] as string).length))),
    names,
    width,
  );
  const startOf = (at: number) => widths.slice(0, at).reduce((sum, each) => sum + each + GAP, 0);
  const aligned = (line: string[]) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join(" ".repeat(GAP))
      .trimEnd();
  /** From the right, so that the places of the others stay the same. */
  const coloured = (line: string[], row: number) =>
    columns.reduceRight((shown, [, , colourOf], at) => {
      const style = colourOf?.(rows[row] as Row);
      if (!style) return shown;
      const [start, end] = [startOf(at), startOf(at) + (line[at] as string).length];
      return shown.slice(0, start) + paint(style, shown.slice(start, end)) + shown.slice(end);
    }, aligned(line));
  const cut = (line: string[]) => line.map((cell, at) => shorten(cell, widths[at] as number));
  return [paint("bold", aligned(cut(names))), ...cells.map((line, row) => coloured(cut(line), row))].join(
    "\n",
  );
}

const GAP = 2;
/** A column that is cut keeps this much. */
const LEAST = 8;
/** Ids are copied, and mean nothing if they are cut. */
const ID = /\bIDS?$/;

/** Cuts the widest column until all fit or none can be cut further. */
function fitWidths(widths: number[], names: string[], width: number): number[] {
  const fitted = [...widths];
  const left = () => fitted.reduce((sum, each) => sum + each, GAP * (fitted.length - 1)) - width;
  while (left() > 0) {
    const flexible = fitted.map((each, at) => (ID.test(names[at] as string) ? 0 : each));
    const widest = Math.max(...flexible);
    if (widest <= LEAST) break;
    fitted[flexible.indexOf(widest)] = widest - 1;
  }
  return fitted;
}

const shorten = (text: string, width: number) =>
  text.length > width ? `${text.slice(0, Math.max(width - 1, 0))}…` : text;

function oneLine(value: string | number | null | undefined): string {
  const [line = ""] = String(value ?? "–")
    .trim()
    .split("\n");
  return line || "–";
}

/** Returns names and values, one per line; lines without a value are left out. */
export function formatDetails(details: [string, string | number | null | undefined][]): string {
  const shown = details.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint("bold", name.padEnd(width))}  ${value}`).join("\n");
}

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** Returns how long ago a time was: `3 min ago`. */
export function age(time: string | null | undefined, now = Date.now()): string {
  if (!time) return "–";
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  return `${duration(seconds)} ago`;
}

/** Returns a duration in its largest unit. */
export function duration(seconds: number): string {
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** Returns a function that shows the UTC times of a text in a time zone. @throws UsageError */
export function inTimeZone(timeZone: string): (text: string) => string {
  const format = newFormat(timeZone);
  const local = (time: string) => {
    const parts = Object.fromEntries(
      format.formatToParts(new Date(time)).map(({ type, value }) => [type, value]),
    );
    const { year, month, day, hour, minute, second, timeZoneName = "" } = parts;
    return `${year}-${month}-${day}T${hour}:${minute}:${second}${timeZoneName.slice("GMT".length) || "Z"}`;
  };
  return (text) => text.replace(TIME, local);
}

function newFormat(timeZone: string): Intl.DateTimeFormat {
  const two = "2-digit";
  try {
    return new Intl.DateTimeFormat("en-CA", {
      ...{ timeZone, timeZoneName: "longOffset", hourCycle: "h23", year: "numeric" },
      ...({ month: two, day: two, hour: two, minute: two, second: two } as const),
    } as Intl.DateTimeFormatOptions);
  } catch {
    throw new UsageError(`--timezone is ${timeZone}: expected the name of a time zone like Europe/Berlin.`);
  }
}
