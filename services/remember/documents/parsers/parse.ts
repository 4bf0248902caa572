import { FILE_TYPES, type FileType, fileTypeOf } from "../../../../lib/http/file-types.ts";
import { charsetOf, mediaTypeOf } from "../../../../lib/http/media-type.ts";
import { TooMuchText } from "../../../../lib/text/blocks.ts";
import { htmlText } from "../../../../lib/text/html.ts";
import { declaredEncoding, decodeText } from "./encoding.ts";
import { readJson } from "./json.ts";
import { readMail } from "./mail.ts";
import {
  type DocumentReader,
  type DocumentReaders,
  Losses,
  type Page,
  type ReadContext,
  tidied,
  tooMuchText,
  UnreadableError,
} from "./page.ts";
import { readTable } from "./table.ts";
import { wideEncoding } from "./wide-text.ts";

interface Type {
  name: string;
  /** The format that its first bytes must show. */
  format: Format;
  /** Absent for what another module reads. */
  read?(bytes: Uint8Array, reading: ReadContext): Page[] | Promise<Page[]>;
}

/** How files are read (spec: Knowledge documents). */
const TYPES: Record<FileType, Type> = {
  [FILE_TYPES.pdf]: { name: "a PDF", format: "pdf" },
  [FILE_TYPES.docx]: { name: "a Word document", format: "zip" },
  [FILE_TYPES.pptx]: { name: "a presentation", format: "zip" },
  [FILE_TYPES.xlsx]: { name: "a workbook", format: "zip" },
  [FILE_TYPES.html]: { name: "HTML", format: "text", read: readHtml },
  [FILE_TYPES.md]: text("Markdown", (given) => given),
  [FILE_TYPES.txt]: text("text", (given) => given),
  [FILE_TYPES.csv]: text("CSV", readTable),
  [FILE_TYPES.tsv]: text("TSV", (given, losses) => readTable(given, losses, "\t")),
  [FILE_TYPES.json]: text("JSON", readJson),
  [FILE_TYPES.jsonl]: text("JSON", readJson),
  [FILE_TYPES.ndjson]: text("JSON", readJson),
  [FILE_TYPES.eml]: { name: "an e-mail", format: "text", read: readMail },
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

interface Means {
  /** Modules for the types that are not read here. */
  readers?: DocumentReaders;
  beginPage?: ReadContext["beginPage"];
}

/** Files within files within files are an attack. */
const MAX_WITHIN = 3;

/**
 * Returns the text of a file by page. The content must match the declared type.
 * @param losses gets what is not read
 * @param means what a reading thread has besides; a file within another begins no pages
 * @param depth number of files that it is within
 * @throws UnreadableError with the reason
 */
export async function parseDocument(
  bytes: Uint8Array,
  mime_type: string,
  losses = new Losses(),
  means: Means = {},
  depth = 0,
): Promise<Page[]> {
  const name = mediaTypeOf(mime_type);
  if (!isFileType(name)) throw new UnreadableError(`has the type ${mime_type}, which is not supported`);
  const type = TYPES[name];
  if (bytes.length === 0) throw new UnreadableError("is empty");
  const format = detectFormat(bytes, type.format);
  if (format !== type.format)
    throw new UnreadableError(`was declared as ${type.name}, but seems to be ${SEEMS[format]}`);
  const readWithin: ReadContext["readWithin"] = async (inner, filename, content) => {
    if (depth === MAX_WITHIN) throw new UnreadableError("is nested too deeply");
    const type = fileTypeOf(filename) ?? content ?? "application/octet-stream";
    const within = losses.within(filename);
    const pages = await parseDocument(inner, type, within, { readers: means.readers }, depth + 1);
    return pages.map(({ text }) => text).join("\n\n");
  };
  const { readers = {}, beginPage = () => true } = means;
  const context = { charset: charsetOf(mime_type), losses, beginPage, readWithin };
  try {
    const pages = type.read?.(bytes, context) ?? readElsewhere(bytes, name, context, readers[name]);
    return tidied(await pages, losses);
  } catch (err) {
    throw err instanceof TooMuchText ? tooMuchText() : err;
  }
}

const isFileType = (name: string): name is FileType => Object.hasOwn(TYPES, name);

/** Has the module of an extension read a file. */
async function readElsewhere(
  bytes: Uint8Array,
  mime_type: FileType,
  context: ReadContext,
  module: string | undefined,
): Promise<Page[]> {
  if (!module)
    throw new UnreadableError(`is ${TYPES[mime_type].name}, which no extension of this server reads`);
  const { read } = (await import(module)) as DocumentReader;
  return read(bytes, mime_type, context);
}

function text(name: string, read: (text: string, losses: Losses) => string): Type {
  const readBytes = (bytes: Uint8Array, { charset, losses }: ReadContext) => [
    { page: null, text: read(decodeText(bytes, charset, losses), losses) },
  ];
  return { name, format: "text", read: readBytes };
}

function readHtml(bytes: Uint8Array, { charset, losses }: ReadContext): Page[] {
  const html = decodeText(bytes, charset ?? declaredEncoding(bytes), losses);
  return [{ page: null, text: htmlText(html, (kind) => losses.add(kind, "text")) }];
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
  if (!head.includes("\0") || wideEncoding(bytes)) return "text";
  return head.startsWith("GIF8") ? "image" : "binary";
}
