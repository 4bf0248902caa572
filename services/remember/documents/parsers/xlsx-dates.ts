import { DAY_MS } from "../../../../lib/time.ts";
import { readXml } from "./xml.ts";

/** Day 0 of the spreadsheet calendar, valid from March 1900 on. */
const EPOCH = Date.UTC(1899, 11, 30);
const LAST_DAY = 2_958_465; // 31 December 9999

/** Offset of workbooks that count from 1 January 1904, as on old Macs. */
const LATER_EPOCH_DAYS = 1462;

/** Whether a workbook counts its days from 1904. */
export function countsFrom1904(workbook: Uint8Array | undefined): boolean {
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
export function dateStyles(bytes: Uint8Array | undefined): Set<number> {
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
