import { Archive } from "./archive.ts";
import { readDocx } from "./docx.ts";
import { decodeText } from "./encoding.ts";
import { type Format, formatOf } from "./format.ts";
import { readHtml } from "./html.ts";
import { mainPart } from "./office.ts";
import { type Page, tidied, UnreadableError } from "./page.ts";
import { readPdf } from "./pdf.ts";
import { readPptx } from "./pptx.ts";
import { readXlsx } from "./xlsx.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument.";

/** File types with the format that their first bytes must show (spec: Knowledge documents). */
const TYPES: Record<
  string,
  { name: string; format: Format; read(bytes: Uint8Array): Page[] | Promise<Page[]> }
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
  const type = TYPES[mime_type];
  if (!type) throw new UnreadableError(`has the type ${mime_type}, which is not supported`);
  if (bytes.length === 0) throw new UnreadableError("is empty");
  const format = formatOf(bytes, type.format);
  if (format !== type.format)
    throw new UnreadableError(`was declared as ${type.name}, but seems to be ${SEEMS[format]}`);
  return tidied(await type.read(bytes));
}

function office(name: string, usual: string, read: (archive: Archive, main: string) => Page[]) {
  const readBytes = (bytes: Uint8Array) => {
    const archive = new Archive(bytes);
    const main = mainPart(archive, usual);
    if (!archive.names.has(main)) throw new UnreadableError(`is not ${name}: it contains no ${main}`);
    return read(archive, main);
  };
  return { name, format: "zip" as const, read: readBytes };
}

function readText(bytes: Uint8Array): Page[] {
  return [{ page: null, text: decodeText(bytes) }];
}
