import type { Archive } from "./archive.ts";
import { listedParts, relationsOf } from "./office.ts";
import type { Page } from "./page.ts";
import { countsFrom1904, dateStyles, isoDate } from "./xlsx-dates.ts";
import { readXml } from "./xml.ts";

/** How a workbook recognises dates, and their epoch. */
interface Dates {
  styles: ReadonlySet<number>;
  from1904: boolean;
}

/** Returns the sheets of a workbook, one line per row, with the saved values of formulas. */
export function readXlsx(archive: Archive, main: string): Page[] {
  const sheets = listedParts(archive, main, "sheet");
  const related = new Map(relationsOf(archive, main).map(({ type, part }) => [type, part]));
  const [stringsPart = "", stylesPart = ""] = [related.get("sharedStrings"), related.get("styles")];
  const parts = archive.open([main, stringsPart, stylesPart, ...sheets.map(({ part }) => part)]);
  const strings = sharedStrings(parts.get(stringsPart));
  const dates = { styles: dateStyles(parts.get(stylesPart)), from1904: countsFrom1904(parts.get(main)) };
  return sheets.map(({ name, part }, at) => {
    const bytes = parts.get(part);
    const rows = bytes ? rowsOf(bytes, strings, dates) : "";
    return { page: at + 1, text: rows && `${name}\n\n${rows}` };
  });
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

function rowsOf(bytes: Uint8Array, strings: string[], dates: Dates): string {
  const rows: string[] = [];
  let row: string[] = [];
  let cell: Cell = { type: "n", style: 0, value: "" };
  let inValue = false;
  readXml(bytes, {
    open(name, { t: type = "n", s: style = "0" }) {
      if (name === "row") row = [];
      else if (name === "c") cell = { type, style: Number(style), value: "" };
      else if (name === "v" || name === "t") inValue = true;
    },
    close(name) {
      if (name === "v" || name === "t") inValue = false;
      else if (name === "c" && cell.value !== "") row.push(shown(cell, strings, dates));
      else if (name === "row" && row.length) rows.push(row.join("\t"));
    },
    text(given) {
      if (inValue) cell.value += given;
    },
  });
  return rows.join("\n");
}

function shown({ type, style, value }: Cell, strings: string[], dates: Dates): string {
  if (type === "s") return strings[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "n" && dates.styles.has(style)) return isoDate(Number(value), dates.from1904);
  return value;
}
