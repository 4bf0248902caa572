import { dateFromSerial, format, getFormatFromId, getFormatInfo } from "numfmt";
import { allOf, parseXml } from "./xml.ts";

/** A number format: what a style makes of its cells' values. */
interface Format {
  code: string;
  kind: "general" | "number" | "date" | "time" | "elapsed";
  /** Its look depends on the reader's language, or it scales its values: `0.0,,"M"`. */
  isVague: boolean;
}

const GENERAL: Format = { code: "General", kind: "general", isVague: false };
/** Built-in dates, which workbooks do not declare: each language shows them in its own way. */
const isLocalDate = (id: number) =>
  id === 14 || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
const LITERALS = /"[^"]*"|\\.|_.|\*./g;

/** Offset of workbooks that count from 1 January 1904, as on old Macs. */
const LATER_EPOCH_DAYS = 1462;
const LAST_DAY = 2_958_465; // 31 December 9999
/** Longer times of day are dates. */
const YEAR_DAYS = 366;
const HOUR = 1 / 24;

/** Returns what shows numbers by the code of a format, as in charts. */
export function numberFormat(code: string): (value: string) => string {
  const shape = toFormat(-1, code);
  return (value) => showBy(shape, value, 0);
}

/** Shows the values of cells by the number formats of their styles. */
export class CellFormats {
  readonly #styles: readonly Format[];
  readonly #offset: number;

  constructor(styles: Uint8Array | undefined, from1904: boolean) {
    this.#styles = readStyles(styles);
    this.#offset = from1904 ? LATER_EPOCH_DAYS : 0;
  }

  /**
   * Returns a number as the sheet shows it, followed by the value where they differ much. Dates have an unambiguous one
   * anyway: `Apr-25 (2025-04-14)`.
   */
  number(value: string, style: number): string {
    return showBy(this.#styles[style] ?? GENERAL, value, this.#offset);
  }

  /** Returns a text as the sheet shows it: `"No. "@`. */
  text(value: string, style: number): string {
    const { code } = this.#styles[style] ?? GENERAL;
    return code.includes("@") && code !== "@" ? (shown(code, value) ?? value) : value;
  }
}

function showBy(shape: Format, text: string, offset: number): string {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return text;
  if (shape.kind === "general") return plain(value);
  if (shape.kind === "number") return showNumber(value, shape);
  if (shape.kind === "elapsed") return shown(shape.code, value) ?? plain(value);
  const isTime = value < 1 && (shape.kind === "time" || value > 0);
  return showDate(value + (isTime ? 0 : offset), shape, value);
}

/** A workbook has 15 significant digits: 3.3000000000000003 is 3.3. */
const plain = (value: number) => String(Number(value.toPrecision(15)));

/** Returns null if the format or the value is not valid. */
function shown(code: string, value: number | string): string | null {
  try {
    return format(code, value, { dateErrorThrows: true }).replace(/\s+/g, " ").trim();
  } catch {
    return null;
  }
}

function showNumber(value: number, { code, isVague }: Format): string {
  const text = shown(code, value);
  if (text === null) return plain(value);
  if (text === "" || value === 0 || (!isVague && hasValue(text, value))) return text;
  return `${text} (${plain(value)})`;
}

/** Difference that rounding makes, relative to the value. */
const MOST_ROUNDED = 0.005;

/** Whether a text shows all but the last digits of a value. */
function hasValue(text: string, value: number): boolean {
  if (text.includes(plain(Math.abs(value)))) return true;
  const digits = text.replace(/\D/g, "").replace(/^0+/, "");
  const rounded = Math.abs(value).toPrecision(Math.min(15, Math.max(1, digits.length)));
  const isNear = Math.abs(Number(rounded) - Math.abs(value)) <= MOST_ROUNDED * Math.abs(value);
  return isNear && significant(rounded.replace(/e.*/, "")) === significant(digits);
}

const significant = (text: string) => text.replace(/\D/g, "").replace(/^0+|0+$/g, "");

/** @param counted the value before it was moved to the usual epoch */
function showDate(value: number, { code, kind, isVague }: Format, counted: number): string {
  if (!(counted >= 0 && value <= LAST_DAY)) return plain(counted);
  const iso = isoDate(value);
  if (isVague) return iso;
  const text = shown(code, value);
  if (text === null || text === "") return iso;
  if (kind === "time") {
    if (counted < (/h/i.test(code.replace(LITERALS, "")) ? 1 : HOUR)) return text;
    return counted < YEAR_DAYS ? `${text} (${shown("[h]:mm:ss", counted)})` : `${text} (${iso})`;
  }
  return text.replace("T", " ").includes(iso) || iso.startsWith(text) ? text : `${text} (${iso})`;
}

/** Formats a day of the calendar of spreadsheets as `2025-03-01`, with the time of day if present. */
function isoDate(day: number): string {
  const [year = 0, month, date, ...time] = dateFromSerial(Math.round(day * 86_400) / 86_400) as number[];
  const clock = time.map(padded).join(":").replace(/:00$/, "");
  if (day < 1) return clock;
  const text = `${String(year).padStart(4, "0")}-${padded(month)}-${padded(date)}`;
  return Number.isInteger(day) || clock === "00:00" ? text : `${text} ${clock}`;
}

const padded = (part = 0) => String(part).padStart(2, "0");

/** Returns the formats of the cell styles, by their number. */
function readStyles(bytes: Uint8Array | undefined): Format[] {
  const sheet = parseXml(bytes);
  const declared = allOf(sheet, "numFmt").map(({ attributes }) => attributes);
  const codes = new Map(declared.map(({ numFmtId = "0", formatCode }) => [Number(numFmtId), formatCode]));
  const cells = allOf(sheet, "cellXfs").flatMap((each) => allOf(each, "xf"));
  const styles = cells.map(({ attributes: { numFmtId = "0" } }) => Number(numFmtId));
  const formats = new Map([...new Set(styles)].map((id) => [id, toFormat(id, codes.get(id))]));
  return styles.map((id) => formats.get(id) ?? GENERAL);
}

function toFormat(id: number, declared: string | undefined): Format {
  const code = declared ?? getFormatFromId(id);
  try {
    const { isDate, scale } = getFormatInfo(code);
    const letters = code.replace(LITERALS, "");
    if (/^(?:general)?$/i.test(code.trim())) return GENERAL;
    if (!isDate) return { code: withoutLanguage(code), kind: "number", isVague: scale < 1 };
    if (/\[(?:h+|m+|s+)\]/i.test(letters)) return { code, kind: "elapsed", isVague: false };
    const isVague = declared === undefined && isLocalDate(id);
    const isTime = !/[ydegb]|m{3}/i.test(letters.replace(/\[[^\]]*\]/g, "")) && /[hs]/i.test(letters);
    return { code, kind: isTime && !isVague ? "time" : "date", isVague };
  } catch {
    return GENERAL;
  }
}

/** Drops the language of a currency, which decides about its sign only: `[$€-407]`. */
const withoutLanguage = (code: string) => code.replace(/\[\$([^\]-]+)-[^\]]*\]/g, "[$$$1]");
