import { MAX_CHARACTERS, TooMuchText } from "../../lib/text/blocks.ts";
import type { Page } from "../../services/remember/documents/parsers/page.ts";
import { type Row, renderTable } from "../../services/remember/documents/parsers/table.ts";
import { CellFormats } from "./cell-format.ts";
import { readAuthors, readComments } from "./comments.ts";
import { listedParts, noteUnread, type OfficeFile } from "./office.ts";
import { readShapes } from "./shapes.ts";
import { readControls } from "./vml.ts";
import {
  allOf,
  childOf,
  childrenOf,
  type Element,
  isOn,
  parseXml,
  readElements,
  textOf,
  writtenIn,
} from "./xml.ts";

/** The workbook, as its sheets need it. */
interface Workbook {
  strings: string[];
  formats: CellFormats;
  /** Names of those who comment, by their ids. */
  authors: ReadonlyMap<string, string>;
}

/**
 * Returns the sheets of a workbook as tables, with the saved values of formulas, without hidden ones. Comments, charts,
 * shapes, form controls and the texts around printed pages come after the table.
 */
export function readXlsx(file: OfficeFile, main: string): Page[] {
  const { archive, losses } = file;
  const related = noteUnread(file, main, "workbook");
  const of = (wanted: string) => related.filter(({ type }) => type === wanted).map(({ part }) => part);
  const [strings, styles = ""] = [of("sharedStrings")[0], of("styles")[0]];
  const workbook = {
    strings: sharedStrings(strings === undefined ? undefined : archive.require(strings)),
    formats: new CellFormats(archive.open(styles), countsFrom1904(archive.open(main))),
    authors: readAuthors(file, of("person")),
  };
  return listedParts(archive, main, "sheet").map(({ name, part, isHidden }, at) => {
    if (isHidden) losses.add("hidden sheet", name);
    const text = isHidden || !file.beginPage(at + 1) ? "" : readSheet(file, part, name, workbook);
    return { page: at + 1, text: text && `${name}\n\n${text}` };
  });
}

function readSheet(file: OfficeFile, part: string, name: string, workbook: Workbook): string {
  const { archive, losses } = file;
  const { rows, printed, unread } = readRows(archive.require(part), workbook);
  for (const kind of unread) losses.add(kind, name);
  const related = noteUnread(file, part, name).filter((each) => archive.has(each.part));
  const of = (wanted: string) => related.filter(({ type }) => type === wanted).map((each) => each.part);
  for (const type of ["oleObject", "package"]) for (const _ of of(type)) losses.add("embedded object", name);
  for (const _ of of("control")) losses.add("control", name);
  const texts = [
    renderTable(rows),
    ...of("threadedComment").map((each) => readComments(file, each, workbook.authors)),
    ...of("comments").map((each) => readComments(file, each, workbook.authors)),
    ...of("drawing").map((each) => readShapes(file, each, { place: name }).text),
    ...of("vmlDrawing").map((each) => readControls(archive.require(each))),
    ...printed,
  ];
  return texts.filter(Boolean).join("\n\n");
}

/** Returns the texts that cells refer to by number. */
function sharedStrings(bytes: Uint8Array | undefined): string[] {
  const strings: string[] = [];
  readElements(
    bytes,
    (name) => name === "si",
    (element) => strings.push(writtenIn(element)),
  );
  return strings;
}

interface SheetContent {
  rows: Row[];
  /** Texts above and below each printed page. */
  printed: string[];
  /** Kinds of the cells that are not read. */
  unread: string[];
}

function readRows(bytes: Uint8Array, workbook: Workbook): SheetContent {
  const content: SheetContent = { rows: [], printed: [], unread: [] };
  let characters = 0;
  const readRow = (element: Element) => {
    const row: Row = new Map();
    let column = -1;
    for (const cell of childrenOf(element).filter(({ name }) => name === "c")) {
      column = parseColumn(cell.attributes.r) ?? column + 1;
      const value = textOf(childOf(cell, "v")) + writtenIn(cell);
      const { t: type = "n", s: style = "0", vm } = cell.attributes;
      // A picture or a record, which older programs show as an error.
      const isRich = vm !== undefined && type === "e";
      const text = isRich ? "" : shown(type, value, Number(style), workbook);
      characters += text.length;
      if (characters > MAX_CHARACTERS) throw new TooMuchText();
      if (text.trim()) row.set(column, text);
      else if (childOf(cell, "f") && type !== "str" && value === "") content.unread.push("formula");
      if (isRich) content.unread.push("picture");
    }
    if (row.size) content.rows.push(row);
  };
  readElements(
    bytes,
    (name) => name === "row" || PRINTED.test(name),
    (element) => {
      if (element.name === "row") readRow(element);
      else content.printed.push(printedText(textOf(element)));
    },
  );
  return content;
}

const PRINTED = /^(?:odd|even|first)(?:Header|Footer)$/;

/** Drops the codes of a printed page's header: `&L&"Arial,Bold"Draft&CPage &P of &N`. */
function printedText(codes: string): string {
  const text = codes
    .replaceAll("&&", "\0")
    .replace(/&[LCR]/g, "\n")
    .replace(/&(?:"[^"]*"|K[\dA-F+-]{5,6}|\d{1,3}|[A-Z])/gi, "")
    .replaceAll("\0", "&");
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => /\p{L}{2}|\d/u.test(line) && !/^(?:page|of|\W)+$/i.test(line)).join("\n");
}

/** Returns the column of a reference such as `AB12`, from 0. */
function parseColumn(reference = ""): number | undefined {
  const letters = /^([A-Z]{1,3})\d/i.exec(reference)?.[1]?.toUpperCase();
  if (!letters) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function shown(type: string, value: string, style: number, { strings, formats }: Workbook): string {
  if (value === "") return "";
  if (type === "s") return formats.text(strings[Number(value)] ?? "", style);
  if (type === "b") return value === "1" ? "TRUE" : "FALSE";
  if (type === "d") return value.replace(/T00:00:00(?:\.0+)?Z?$/, "").replace("T", " ");
  if (type === "n") return formats.number(value, style);
  return type === "e" ? value : formats.text(value, style);
}

/** Whether a workbook counts its days from 1904. Excel repeats the element in an extension, without the setting. */
const countsFrom1904 = (workbook: Uint8Array | undefined) =>
  allOf(parseXml(workbook), "workbookPr").some(
    ({ attributes: { date1904 } }) => date1904 !== undefined && isOn(date1904),
  );
