import { charsetOf, mediaTypeOf } from "../../../../lib/http/media-type.ts";
import { TooMuchText } from "../../../../lib/text/blocks.ts";
import { htmlText } from "../../../../lib/text/html.ts";
import { Archive } from "./archive.ts";
import { readDocx } from "./docx.ts";
import { decodeText } from "./encoding.ts";
import { detectFormat, type Format } from "./format.ts";
import { mainPart } from "./office.ts";
import { type Page, tidied, tooMuchText, UnreadableError } from "./page.ts";
import { readPdf } from "./pdf.ts";
import { readPptx } from "./pptx.ts";
import { readXlsx } from "./xlsx.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument.";

/** File types with the format that their first bytes must show (spec: Knowledge documents). */
const TYPES: Record<
  string,
  { name: string; format: Format; read(bytes: Uint8Array, charset?: string): Page[] | Promise<Page[]> }
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
 * @throws UnreadableError with the reason
 */
export async function parseDocument(bytes: Uint8Array, mime_type: string): Promise<Page[]> {
  const [name, charset] = [mediaTypeOf(mime_type), charsetOf(mime_type)];
  const type = TYPES[name];
  if (!type) throw new UnreadableError(`has the type ${mime_type}, which is not supported`);
  if (bytes.length === 0) throw new UnreadableError("is empty");
  const format = detectFormat(bytes, type.format);
  if (format !== type.format)
    throw new UnreadableError(`was declared as ${type.name}, but seems to be ${SEEMS[format]}`);
  try {
    return tidied(await type.read(bytes, charset));
  } catch (err) {
    throw err instanceof TooMuchText ? tooMuchText() : err;
  }
}

function office(name: string, usual: string, read: (archive: Archive, main: string) => Page[]) {
  const readBytes = (bytes: Uint8Array) => {
    const archive = new Archive(bytes);
    const main = mainPart(archive, usual);
    if (!archive.has(main)) throw new UnreadableError(`is not ${name}: it contains no ${main}`);
    return read(archive, main);
  };
  return { name, format: "zip" as const, read: readBytes };
}

function readText(bytes: Uint8Array, charset?: string): Page[] {
  return [{ page: null, text: decodeText(bytes, charset) }];
}

function readHtml(bytes: Uint8Array, charset?: string): Page[] {
  return [{ page: null, text: htmlText(decodeText(bytes, charset ?? declaredEncoding(bytes))) }];
}

/** Reads `<meta charset="…">` or its older form within the first bytes, like browsers. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
}
