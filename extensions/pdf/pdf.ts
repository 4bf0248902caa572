import { createRequire } from "node:module";
import { dirname } from "node:path";
import { getDocumentProxy, getResolvedPDFJS } from "unpdf";
import {
  type Losses,
  type Page,
  type ReadContext,
  UnreadableError,
} from "../../services/remember/documents/parsers/page.ts";
import { layOut, type Run } from "./layout.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type PdfPage = Awaited<ReturnType<Pdf["getPage"]>>;

/** `unpdf` is PDF.js without its tables of character codes and its fonts of symbols. */
const DATA = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
const OPTIONS = {
  cMapUrl: `${DATA}/cmaps/`,
  standardFontDataUrl: `${DATA}/standard_fonts/`,
  verbosity: 0,
  stopAtErrors: false,
  /** Pixels from which on images are not decoded. */
  maxImageSize: 1,
};
/** A gap within shown text, in thousandths of its size, from which on it is a space. */
const SPACE_GAP = 200;

/** Returns the text of each page in file order with what is filled in its forms. */
export async function read(
  bytes: Uint8Array,
  _mime_type: string,
  { losses, beginPage }: ReadContext,
): Promise<Page[]> {
  const pictures = countPictures(bytes);
  const pdf = await open(bytes);
  const texts: string[] = [];
  for (let page = 1; page <= pdf.numPages; page++)
    texts.push(beginPage(page) ? await readPage(pdf, page, pictures > 0, losses) : "");
  // A scanned page is one picture.
  const others = pictures - losses.count(TEXTLESS);
  if (others > 0) losses.add("picture", "pages with text", others);
  for (const name of Object.keys((await pdf.getAttachments().catch(() => null)) ?? {}))
    losses.add("attachment", name);
  if (await isXfaPlaceholder(pdf, texts))
    throw new UnreadableError(
      "is an XFA form, which only Adobe's programs show: print it to a PDF, and upload that",
    );
  const joined = joinDividedWords(texts);
  return joined.map((text, at) => ({ page: at + 1, text }));
}

/** A dynamic XFA form has a page for other programs, which asks to wait. */
async function isXfaPlaceholder(pdf: Pdf, texts: string[]): Promise<boolean> {
  const { info } = await pdf.getMetadata();
  const { IsXFAPresent, IsAcroFormPresent } = info as Record<string, boolean>;
  if (!IsXFAPresent || texts.length > 1) return false;
  return !IsAcroFormPresent || /not eventually replaced/.test(texts[0] as string);
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, OPTIONS);
  } catch (err) {
    if ((err as Error).name === "PasswordException")
      throw new UnreadableError("is encrypted: upload it without a password");
    throw new UnreadableError("is damaged or incomplete");
  }
}

/** Returns the text of a page. One that cannot be read, or shows something else than text, is a loss. */
async function readPage(pdf: Pdf, number: number, hasPictures: boolean, losses: Losses): Promise<string> {
  const place = `page ${number}`;
  try {
    const page = await pdf.getPage(number);
    const text = await readText(page);
    if (!text.trim() && (hasPictures || (await isPainted(page)))) losses.add(TEXTLESS, place);
    page.cleanup();
    return text;
  } catch {
    losses.add("damaged page", place);
    return "";
  }
}

const TEXTLESS = "page without text";

/** Whether a page has lines, areas or small pictures; PDF.js leaves out those of more than `maxImageSize`. */
async function isPainted(page: PdfPage): Promise<boolean> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const painted: number[] = [OPS.shadingFill, OPS.paintImageXObject, OPS.paintInlineImageXObject];
  return fnArray.some((operator, at) =>
    operator === OPS.constructPath ? argsArray[at][0] !== OPS.endPath : painted.includes(operator),
  );
}

/** Counts the pictures of a file by their dictionaries, which are never packed or encrypted, without masks of others. */
function countPictures(bytes: Uint8Array): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let pictures = 0;
  const masks = new Set<string>();
  for (let at = file.indexOf("/Image"); at >= 0; at = file.indexOf("/Image", at + 1))
    if (/\/Subtype\s*$/.test(file.toString("latin1", Math.max(0, at - 20), at))) pictures++;
  for (let at = file.indexOf("/SMask"); at >= 0; at = file.indexOf("/SMask", at + 1)) {
    const [, mask] = /^\/SMask\s+(\d+ \d+) R/.exec(file.toString("latin1", at, at + 30)) ?? [];
    if (mask) masks.add(mask);
  }
  return Math.max(0, pictures - masks.size);
}

async function readText(page: PdfPage): Promise<string> {
  const levels = await findHeadings(page);
  const text = await pageText(page, levels);
  const values = await formValues(page);
  const divided = await softlyDivided(page);
  const whole = divided.size
    ? text.replace(/(\p{L}+)(?=\n)/gu, (word) => (divided.has(word) ? `${word}\u00ad` : word))
    : text;
  return [whole, ...values].join("\n");
}

/** Returns the text by its positions, that of each direction for itself, the most frequent direction first. */
async function pageText(page: PdfPage, levels: Map<string, number>): Promise<string> {
  const { items } = await page.getTextContent({ includeMarkedContent: levels.size > 0 });
  const directions = new Map<string, Run[]>();
  const marked: (string | undefined)[] = [];
  let spaceBefore = false;
  for (const [order, item] of items.entries()) {
    if (!("str" in item)) {
      if (item.type === "endMarkedContent") marked.pop();
      else marked.push(item.id);
      continue;
    }
    const text = item.str.trim();
    if (text) {
      const id = marked.findLast((each) => each !== undefined && levels.has(each));
      const heading = id ? { id, level: levels.get(id) as number } : undefined;
      const { direction, place } = placeOf(item);
      const runs = directions.get(direction) ?? [];
      runs.push({ text, ...place, order, heading, spaceBefore: spaceBefore || item.str.startsWith(" ") });
      directions.set(direction, runs);
    }
    spaceBefore = item.str.endsWith(" ") || (spaceBefore && !text);
  }
  const bySize = [...directions.values()].sort((a, b) => b.length - a.length);
  return bySize.map(layOut).join("\n\n");
}

type Item = Extract<Awaited<ReturnType<PdfPage["getTextContent"]>>["items"][number], { str: string }>;

/** Returns the direction of a text, and its place seen in that direction. */
function placeOf({ transform, width, height, dir }: Item) {
  const [a, b, c, d, x, y] = transform as [number, number, number, number, number, number];
  const size = Math.hypot(c, d) || height || 1;
  if (dir === "ttb") return { direction: dir, place: { start: -y, end: height - y, base: x, size } };
  const degrees = (Math.round((Math.atan2(b, a) * 180) / Math.PI) + 360) % 360;
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const start = x * cos + y * sin;
  return { direction: `${degrees}`, place: { start, end: start + width, base: y * cos - x * sin, size } };
}

/** Returns the beginnings of words that end with a soft hyphen, which PDF.js omits from the text. */
async function softlyDivided(page: PdfPage): Promise<Set<string>> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const shown = fnArray.flatMap((operator, at) => {
    if (operator !== OPS.showText) return operator === OPS.setFont ? [] : [" "];
    return (argsArray[at][0] as (number | { unicode: string })[]).map((glyph) =>
      typeof glyph === "number" ? (Math.abs(glyph) > SPACE_GAP ? " " : "") : glyph.unicode,
    );
  });
  return new Set([...shown.join("").matchAll(/(\p{L}+)\u00ad/gu)].map(([, word]) => word as string));
}

interface StructNode {
  role?: string;
  type?: string;
  id?: string;
  children?: StructNode[];
}

/** Returns the levels of a tagged page's headings by the ids of their marked content. */
async function findHeadings(page: PdfPage): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  const visit = ({ role = "", type, id, children = [] }: StructNode, level: number) => {
    if (type === "content" && id && level) levels.set(id, level);
    const own = /^H([1-6])?$/.exec(role);
    for (const child of children) visit(child, own ? Number(own[1] ?? 1) : level);
  };
  // A broken structure leaves the text.
  const tree = (await page.getStructTree().catch(() => null)) as StructNode | null;
  if (tree) visit(tree, 0);
  return levels;
}

interface Field {
  subtype?: string;
  fieldType?: string;
  fieldName?: string;
  alternativeText?: string;
  fieldValue?: unknown;
  password?: boolean;
  hidden?: boolean;
  checkBox?: boolean;
  exportValue?: string;
  buttonValue?: string;
  options?: { exportValue: string; displayValue: string }[];
  contentsObj?: { str?: string };
}

/** Returns a line for each field of a page that is filled in, and for each note on it. */
async function formValues(page: PdfPage): Promise<string[]> {
  const fields = (await page.getAnnotations().catch(() => [])) as Field[];
  const lines = fields.flatMap((field) => {
    const value = field.hidden || field.password ? "" : filledIn(field);
    const name = field.alternativeText || field.fieldName?.split(".").at(-1);
    return value ? [name && name !== value ? `${name}: ${value}` : value] : [];
  });
  return [...new Set(lines)];
}

function filledIn({ subtype, fieldType, fieldValue, options = [], ...field }: Field): string {
  if (subtype !== "Widget")
    return subtype === "Link" || subtype === "Popup" ? "" : (field.contentsObj?.str ?? "");
  const values = [fieldValue].flat().filter((value) => typeof value === "string");
  if (fieldType === "Btn") {
    const own = field.checkBox ? field.exportValue : field.buttonValue;
    return values[0] && values[0] !== "Off" && values[0] === own ? values[0] : "";
  }
  const shown = values.map(
    (value) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value,
  );
  return fieldType === "Sig" ? "" : shown.join(", ").trim();
}

/** A line that ends with a hyphen within a word, and the beginning of the next. */
const DIVIDED = /(\p{L}+)([-\u2010\u00ad])[ \t]*\n[ \t]*(\p{L}[\p{L}\p{M}]*|\p{N}+)/gu;
/** After a hyphen at the end of a line, these mean that it stands for the rest of a compound: "load- and". */
const CONJUNCTIONS = new Set("and or to und oder bis en of et ou y o e ed och og eller".split(" "));
/** Shorter parts are hardly whole words. */
const SHORTEST_PART = 4;

/**
 * Joins words that are divided at the end of a line. Where only a dictionary could tell a divided word from a hyphenated
 * one, and the document has neither elsewhere, it is written both ways, so that search finds both.
 */
function joinDividedWords(texts: string[]): string[] {
  const words = new Set<string>();
  for (const text of texts)
    for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu)) words.add(word);
  const join = (all: string, first: string, hyphen: string, rest: string): string => {
    if (hyphen === "\u00ad") return `${first}${rest}`;
    if (CONJUNCTIONS.has(rest.toLowerCase())) return `${first}- ${rest}`;
    const [whole, compound] = [`${first}${rest}`, `${first}-${rest}`];
    if (rest[0] !== rest[0]?.toLowerCase() || rest[0] === rest[0]?.toUpperCase()) return compound;
    if (words.has(whole.toLowerCase())) return whole;
    if (words.has(compound.toLowerCase())) return compound;
    const isShort = Math.min(first.length, rest.length) < SHORTEST_PART;
    return isShort || all.length === 0 ? whole : `${compound} (${whole})`;
  };
  return texts.map((text) => text.replace(DIVIDED, join));
}
