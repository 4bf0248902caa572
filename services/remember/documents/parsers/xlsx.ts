import { MAX_CHARACTERS, markdownTable, TooMuchText } from "../../../../lib/text/blocks.ts";
import { DAY_MS } from "../../../../lib/time.ts";
import { type Archive, listedParts, readRelations, readXml } from "./office.ts";
import type { Page } from "./page.ts";

/** How a workbook recognises dates, and their epoch. */
interface Dates {
  styles: ReadonlySet<number>;
  from1904: boolean;
}

/** Returns the sheets of a workbook as tables, with the saved values of formulas, without hidden ones. */
export function readXlsx(archive: Archive, main: string): Page[] {
  const sheets = listedParts(archive, main, "sheet");
  const related = new Map(readRelations(archive, main).map(({ type, part }) => [type, part]));
  const [stringsPart, stylesPart] = [related.get("sharedStrings"), related.get("styles")];
  const strings = sharedStrings(stringsPart === undefined ? undefined : archive.require(stringsPart));
  const parts = archive.open([main, stylesPart ?? ""]);
  const dates = {
    styles: dateStyles(parts.get(stylesPart ?? "")),
    from1904: countsFrom1904(parts.get(main)),
  };
  return sheets.map(({ name, part, isHidden }, at) => {
    const text = isHidden ? "" : renderTable(readRows(archive.require(part), strings, dates));
    return { page: at + 1, text: text && `${name}\n\n${text}` };
  });
}

/** Cells by their column. */
type Row = Map<number, string>;

/** Rows before the first with several cells are titles; columns without any text are left out. */
function renderTable(rows: Row[]): string {
  const first = rows.findIndex(({ size }) => size > 1);
  const titles = (first < 0 ? rows : rows.slice(0, first)).map((row) => [...row.values()].join(" "));
  if (first < 0) return titles.join("\n");
  const table = rows.slice(first);
  const columns = [...new Set(table.flatMap((row) => [...row.keys()]))].sort((a, b) => a - b);
  const last = (row: Row) => columns.indexOf(Math.max(...row.keys())) + 1;
  const size = table.reduce((sum, row) => sum + last(row), 0);
  if (size > MAX_CHARACTERS) throw new TooMuchText();
  const cells = table.map((row) => columns.slice(0, last(row)).map((column) => row.get(column) ?? ""));
  return [...titles, "", markdownTable(cells)].join("\n");
}

/** Returns the texts that cells refer to by number. */
function sharedStrings(bytes: Uint8Array | undefined): string[] {
  const strings: string[] = [];
  if (!bytes) return strings;
  let current = "";
  let inText = false;
  // Skips phonetic hints.
  let phonetic = false;
  readXml(bytes, {
    open(name) {
      if (name === "si") current = "";
      else if (name === "t") inText = true;
      else if (name === "rPh") phonetic = true;
    },
    close(name) {
      if (name === "si") strings.push(current);
      else if (name === "t") inText = false;
      else if (name === "rPh") phonetic = false;
    },
    text(given) {
      if (inText && !phonetic) current += given;
    },
  });
  return strings;
}

interface Cell {
  type: string;
  style: number;
  value: string;
}

function readRows(bytes: Uint8Array, strings: string[], dates: Dates): Row[] {
  const rows: Row[] = [];
  let row: Row = new Map();
  let cell: Cell = { type: "n", style: 0, value: "" };
  let column = -1;
  let inValue = false;
  let phonetic = false;
  let characters = 0;
  readXml(bytes, {
    open(name, { t: type = "n", s: style = "0", r: reference }) {
      if (name === "row") {
        row = new Map();
        column = -1;
      } else if (name === "c") {
        column = parseColumn(reference) ?? column + 1;
        cell = { type, style: Number(style), value: "" };
      } else if (name === "v" || name === "t") inValue = true;
      else if (name === "rPh") phonetic = true;
    },
    close(name) {
      if (name === "v" || name === "t") inValue = false;
      else if (name === "rPh") phonetic = false;
      else if (name === "c" && cell.value !== "") {
        const text = shown(cell, strings, dates);
        characters += text.length;
        if (characters > MAX_CHARACTERS) throw new TooMuchText();
        if (text.trim()) row.set(column, text);
      } else if (name === "row" && row.size) rows.push(row);
    },
    text(given) {
      if (inValue && !phonetic) cell.value += given;
    },
  });
  return rows;
}

/** Returns the column of a reference such as `AB12`, from 0. */
function parseColumn(reference = ""): number | undefined {
  const letters = /^([A-Z]{1,3})\d/i.exec(reference)?.[1]?.toUpperCase();
  if (!letters) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function shown({ type, style, value }: Cell, strings: string[], dates: Dates): string {
  if (type === "s") return strings[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "d") return value.replace(/T00:00:00(?:\.0+)?Z?$/, "").replace("T", " ");
  if (type === "n" && dates.styles.has(style)) return isoDate(Number(value), dates.from1904);
  return value;
}

/** Day 0 of the spreadsheet calendar, valid from March 1900 on. */
const EPOCH = Date.UTC(1899, 11, 30);
const LAST_DAY = 2_958_465; // 31 December 9999

/** Offset of workbooks that count from 1 January 1904, as on old Macs. */
const LATER_EPOCH_DAYS = 1462;

/** Whether a workbook counts its days from 1904. */
function countsFrom1904(workbook: Uint8Array | undefined): boolean {
  let isLater = false;
  if (!workbook) return isLater;
  readXml(workbook, {
    open(name, { date1904 = "" }) {
      if (name === "workbookPr") isLater = date1904 === "1" || date1904 === "true";
    },
  });
  return isLater;
}

/** Built-in formats, which workbooks do not declare. */
const isDateFormat = (id: number) => (id >= 14 && id <= 22) || (id >= 45 && id <= 47);

/** Returns the numbers of the cell styles that show a number as a date. */
function dateStyles(bytes: Uint8Array | undefined): Set<number> {
  const styles = new Set<number>();
  if (!bytes) return styles;
  const custom = new Set<number>();
  let inCells = false;
  let style = 0;
  readXml(bytes, {
    open(name, { numFmtId = "0", formatCode = "" }) {
      const format = Number(numFmtId);
      if (name === "numFmt" && looksLikeDate(formatCode)) custom.add(format);
      else if (name === "cellXfs") inCells = true;
      else if (name === "xf" && inCells) {
        if (isDateFormat(format) || custom.has(format)) styles.add(style);
        style++;
      }
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return styles;
}

/**
 * Whether a format has letters of days or years outside quotes and brackets: `yyyy-mm-dd`, but not `"day" 0` or
 * `[Red]0`.
 */
function looksLikeDate(code: string): boolean {
  return /[ydh]/i.test(code.replace(/"[^"]*"|\[[^\]]*\]|\\./g, ""));
}

/** Formats a day as `2025-03-01`, with the time of day if present; returns the number if it is no date. */
export function isoDate(day: number, from1904 = false): string {
  if (!(day >= 0 && day <= LAST_DAY)) return String(day);
  const counted = from1904 ? day + LATER_EPOCH_DAYS : day;
  const [date, time] = new Date(EPOCH + Math.round(counted * DAY_MS)).toISOString().split("T") as [
    string,
    string,
  ];
  if (day < 1) return time.slice(0, 5);
  return Number.isInteger(day) ? date : `${date} ${time.slice(0, 5)}`;
}
