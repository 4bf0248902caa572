import Papa from "papaparse";
import { inOneLine, MAX_CHARACTERS, markdownTable, TooMuchText } from "../../../../lib/text/blocks.ts";
import { MAX_HEADER } from "../chunks.ts";
import { type Losses, OPEN_QUOTE, UnreadableError } from "./page.ts";

/** Cells by their column. */
export type Row = Map<number, string>;

/** Rows before the first with several cells are titles; columns without any text are left out. */
export function renderTable(rows: Row[]): string {
  const first = rows.findIndex(({ size }) => size > 1);
  const titles = (first < 0 ? rows : rows.slice(0, first)).map((row) => [...row.values()].join(" "));
  if (first < 0) return titles.join("\n");
  const table = rows.slice(first);
  const columns = [...new Set(table.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  const last = (row: Row) => columns.indexOf(Math.max(...row.keys())) + 1;
  const size = table.reduce((sum, row) => sum + last(row), 0);
  if (size > MAX_CHARACTERS) throw new TooMuchText();
  const cells = table.map((row) => columns.slice(0, last(row)).map((column) => row.get(column) ?? ""));
  return [...titles, "", namedCells(cells)].join("\n");
}

/** Returns a Markdown table, whose header chunks repeat, or, if that is too long, records with a name in each line. */
function namedCells([header = [], ...rows]: string[][]): string {
  if (header.join(" | ").length + "|  |\n".length <= MAX_HEADER) return markdownTable([header, ...rows]);
  let characters = 0;
  const records = rows.map((cells) => {
    const lines = cells.flatMap((cell, at) => (cell ? [named(header[at], cell)] : []));
    characters += lines.reduce((sum, { length }) => sum + length, 0);
    if (characters > MAX_CHARACTERS) throw new TooMuchText();
    return lines.join("\n");
  });
  return [inOneLine(header.join(", ")), ...records].join("\n\n");
}

const named = (name: string | undefined, cell: string) =>
  name ? `${inOneLine(name)}: ${inOneLine(cell)}` : inOneLine(cell);

const MAX_COLUMNS = 16_384;
/** An earlier one is preferred to one that divides the rows into as many cells. */
const DELIMITERS = ["\t", ";", "|", ",", Papa.RECORD_SEP, Papa.UNIT_SEP];
/** The first line of a file of Excel can name the delimiter. */
const NAMED_DELIMITER = /^sep=(.)\n/i;

/** Returns comma-separated values, or such with another delimiter, as a table. @throws UnreadableError, TooMuchText */
export function readTable(content: string, losses: Losses, delimiter = ""): string {
  // Each character is in the table too.
  if (content.length > MAX_CHARACTERS) throw new TooMuchText();
  const text = content.replace(/\r\n?/g, "\n");
  const [line = "", named = delimiter] = NAMED_DELIMITER.exec(text) ?? [];
  const rows = parseRows(text.slice(line.length), losses, named);
  if (rows.length === 0) return "";
  // Before the rows are taken apart: many short cells take much memory.
  if (rows.reduce((sum, row) => sum + sizeOf(row), 0) > MAX_CHARACTERS) throw new TooMuchText();
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  if (width > MAX_COLUMNS) throw new UnreadableError(`has more than ${MAX_COLUMNS} columns`);
  const first = width > 1 ? rows.findIndex((row) => row.filter((cell) => cell.trim()).length > 1) : 0;
  const names = Array.from({ length: width }, (_, at) => `Column ${at + 1}`);
  if (first >= 0 && !hasHeader(rows.slice(first, first + SAMPLE))) rows.splice(first, 0, names);
  if (width < 2) return markdownTable(rows);
  return renderTable(rows.map(withoutBlank));
}

function parseRows(text: string, losses: Losses, delimiter: string): string[][] {
  const options = {
    delimiter,
    newline: "\n",
    delimitersToGuess: DELIMITERS,
    skipEmptyLines: "greedy",
  } as const;
  const { data, errors, meta } = Papa.parse<string[]>(text, options);
  const open = errors.find(({ code }) => code === "MissingQuotes");
  if (!open) return data;
  // The rest of the file would be one cell.
  losses.add(OPEN_QUOTE, `row ${(open.row ?? 0) + 1}`);
  return Papa.parse<string[]>(text, { ...options, delimiter: meta.delimiter, fastMode: true }).data;
}

/** Least characters of a row in the table. */
const sizeOf = (row: string[]) => row.reduce((sum, { length }) => sum + (length && length + " | ".length), 0);

const withoutBlank = (cells: string[]): Row =>
  new Map([...cells.entries()].filter(([, cell]) => cell.trim() !== ""));

/** Rows that tell whether the first is a header. */
const SAMPLE = 50;
/** A number, an amount, a date or a time: without letters, but for those between a date and its time. */
const isValue = (cell: string) => /\d/.test(cell) && !/\p{L}/u.test(cell.replace(/\dT\d|\dZ$/g, "0"));
const isYear = (cell: string) => /^(?:19|20)\d\d$/.test(cell.trim());
const shapeOf = (cell: string) => cell.trim().replace(/\d+/g, "0");

/** Whether the first row names the columns. It does not if it has a value like those below it, other than a year. */
function hasHeader([first = [], ...others]: string[][]): boolean {
  return !first.some((cell, at) => {
    if (!isValue(cell) || isYear(cell)) return false;
    const below = others.map((row) => row[at] ?? "").filter((each) => each.trim());
    return below.every(isValue) && below.some((each) => shapeOf(each) === shapeOf(cell));
  });
}
