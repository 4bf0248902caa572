import { isAscii, isUtf8 } from "node:buffer";
import { detect } from "chardet";
import PostalMime from "postal-mime";
import { charsetOf, mediaTypeOf } from "../../../../lib/http/media-type.ts";
import { TooMuchText } from "../../../../lib/text/blocks.ts";
import { htmlText } from "../../../../lib/text/html.ts";
import { readDocx } from "./docx.ts";
import { Archive, mainPart, type OfficeFile } from "./office.ts";
import { Losses, type Page, tidied, tooMuchText, UnreadableError } from "./page.ts";
import { readPdf } from "./pdf.ts";
import { readPptx } from "./pptx.ts";
import { readXlsx } from "./xlsx.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument.";

/** File types with the format that their first bytes must show (spec: Knowledge documents). */
const TYPES: Record<
  string,
  {
    name: string;
    format: Format;
    read(bytes: Uint8Array, charset: string | undefined, losses: Losses): Page[] | Promise<Page[]>;
  }
> = {
  "application/pdf": { name: "a PDF", format: "pdf", read: readPdf },
  [`${OFFICE}wordprocessingml.document`]: office("a Word document", "word/document.xml", readDocx),
  [`${OFFICE}presentationml.presentation`]: office("a presentation", "ppt/presentation.xml", readPptx),
  [`${OFFICE}spreadsheetml.sheet`]: office("a workbook", "xl/workbook.xml", readXlsx),
  "text/html": { name: "HTML", format: "text", read: readHtml },
  "text/markdown": { name: "Markdown", format: "text", read: readText },
  "text/plain": { name: "text", format: "text", read: readText },
};

const SEEMS: Record<Format, string> = {
  pdf: "a PDF",
  zip: "a ZIP archive",
  ole: "an encrypted or older Office file",
  rtf: "RTF",
  image: "a picture",
  binary: "binary data",
  text: "text",
};

/**
 * Returns the text of a file by page. The content must match the declared type.
 *
 * @param losses gets what is not read
 * @throws UnreadableError with the reason
 */
export async function parseDocument(
  bytes: Uint8Array,
  mime_type: string,
  losses = new Losses(),
): Promise<Page[]> {
  const [name, charset] = [mediaTypeOf(mime_type), charsetOf(mime_type)];
  const type = TYPES[name];
  if (!type) throw new UnreadableError(`has the type ${mime_type}, which is not supported`);
  if (bytes.length === 0) throw new UnreadableError("is empty");
  const format = detectFormat(bytes, type.format);
  if (format !== type.format)
    throw new UnreadableError(`was declared as ${type.name}, but seems to be ${SEEMS[format]}`);
  try {
    return tidied(await type.read(bytes, charset, losses), losses);
  } catch (err) {
    throw err instanceof TooMuchText ? tooMuchText() : err;
  }
}

function office(
  name: string,
  usual: string,
  read: (file: OfficeFile, main: string) => Page[] | Promise<Page[]>,
) {
  const readBytes = (bytes: Uint8Array, _charset: string | undefined, losses: Losses) => {
    const archive = new Archive(bytes);
    const main = mainPart(archive, usual);
    if (!archive.has(main)) throw new UnreadableError(`is not ${name}: it contains no ${main}`);
    const readEmbedded = (within: Uint8Array, part: string) => readFileWithin(within, part, losses);
    return read({ archive, losses, readEmbedded }, main);
  };
  return { name, format: "zip" as const, read: readBytes };
}

const EXTENSIONS: Record<string, string> = {
  html: "text/html",
  htm: "text/html",
  xhtml: "text/html",
  txt: "text/plain",
  docx: `${OFFICE}wordprocessingml.document`,
  dotx: `${OFFICE}wordprocessingml.document`,
};

/** Files within files within files are an attack. */
const MAX_WITHIN = 3;

/** Reads a file within an Office file by its extension; a web archive is its page. @throws UnreadableError */
async function readFileWithin(bytes: Uint8Array, part: string, losses: Losses): Promise<string> {
  const extension = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
  if (extension === "mht" || extension === "mhtml") {
    const { html, text } = await PostalMime.parse(bytes);
    return html === undefined ? (text ?? "") : htmlText(html);
  }
  if (depths.get(losses) === MAX_WITHIN) throw new UnreadableError("is nested too deeply");
  depths.set(losses, (depths.get(losses) ?? 0) + 1);
  try {
    const pages = await parseDocument(bytes, EXTENSIONS[extension] ?? "application/octet-stream", losses);
    return pages.map(({ text }) => text).join("\n\n");
  } finally {
    depths.set(losses, (depths.get(losses) ?? 1) - 1);
  }
}

/** Files that are being read within others, by the losses that they share. */
const depths = new WeakMap<Losses, number>();

function readText(bytes: Uint8Array, charset?: string): Page[] {
  return [{ page: null, text: decodeText(bytes, charset) }];
}

function readHtml(bytes: Uint8Array, charset?: string): Page[] {
  return [{ page: null, text: htmlText(decodeText(bytes, charset ?? declaredEncoding(bytes))) }];
}

/** Bytes to look for a declaration in: it may stand after long scripts. */
const DECLARED_WITHIN = 65_536;

/** Reads an XML declaration, `<meta charset="…">` or its older form, like browsers. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, DECLARED_WITHIN)).toString("latin1");
  const xml = /^\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]+)["']/i.exec(head)?.[1];
  return xml ?? /<meta\b[^>]{1,300}?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1];
}

/** Enough bytes to guess an encoding. */
const SAMPLE = 65_536;

/** @param declared the encoding that the file itself names @throws UnreadableError if it is not text */
function decodeText(bytes: Uint8Array, declared?: string): string {
  const marked = byMark(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  if (bytes.subarray(0, SAMPLE).includes(0)) throw new UnreadableError("is not text: it contains zero bytes");
  if (isJapaneseInAscii(bytes)) return new TextDecoder("iso-2022-jp").decode(bytes);
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  return decodeAs(declared ?? detect(bytes.subarray(0, SAMPLE)) ?? "", bytes);
}

function byMark([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}

function decodeAs(label: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // The fallback of browsers: every byte is a character.
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Detects ISO 2022-JP: each character is two letters, between escape sequences. */
function isJapaneseInAscii(bytes: Uint8Array): boolean {
  if (!isAscii(bytes)) return false;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes("\u001b$B") || text.includes("\u001b$@");
}

/** The format of a file by its first bytes, whatever it claims to be. */
type Format = "pdf" | "zip" | "ole" | "rtf" | "image" | "binary" | "text";

const MARKS: [Format, string][] = [
  ["zip", "PK\u0003\u0004"],
  ["zip", "PK\u0005\u0006"],
  // Office files from before 2007, and encrypted ones.
  ["ole", "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1"],
  ["rtf", "{\\rtf"],
  ["image", "\u0089PNG\r\n"],
  ["image", "\u00ff\u00d8\u00ff"],
];
/** A PDF may have leading bytes. */
const PDF_WITHIN = 1024;

/** @param claimed the declared format: text may mention another format */
function detectFormat(bytes: Uint8Array, claimed: Format): Format {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_WITHIN)).toString(
    "latin1",
  );
  const text = head.replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, "");
  const marked = MARKS.find(([format, mark]) => (format === "rtf" ? text : head).startsWith(mark));
  if (marked) return marked[0];
  if (head.startsWith("%PDF-") || (claimed === "pdf" && /%PDF-\d/.test(head))) return "pdf";
  if (isWide(head) || !head.includes("\0")) return "text";
  return head.startsWith("GIF8") ? "image" : "binary";
}

/** Detects UTF-16 by its byte order mark. */
const isWide = (head: string) => head.startsWith("\u00ff\u00fe") || head.startsWith("\u00fe\u00ff");
