import { FILE_TYPES } from "../../lib/http/file-types.ts";
import {
  type Page,
  type ReadContext,
  UnreadableError,
} from "../../services/remember/documents/parsers/page.ts";
import { readDocx } from "./docx.ts";
import { Archive, mainPart, type OfficeFile } from "./office.ts";
import { readPptx } from "./pptx.ts";
import { readXlsx } from "./xlsx.ts";

interface Kind {
  name: string;
  /** Its main part, as most programs name it. */
  main: string;
  read(file: OfficeFile, main: string): Page[] | Promise<Page[]>;
}

const KINDS: Record<string, Kind> = {
  [FILE_TYPES.docx]: { name: "a Word document", main: "word/document.xml", read: readDocx },
  [FILE_TYPES.pptx]: { name: "a presentation", main: "ppt/presentation.xml", read: readPptx },
  [FILE_TYPES.xlsx]: { name: "a workbook", main: "xl/workbook.xml", read: readXlsx },
};

/** Reads an Office file of this media type. @throws UnreadableError */
export async function read(
  bytes: Uint8Array,
  mime_type: string,
  { losses, beginPage, readWithin }: ReadContext,
): Promise<Page[]> {
  const { name, main: usual, read } = KINDS[mime_type] as Kind;
  const archive = new Archive(bytes);
  const main = mainPart(archive, usual);
  if (!archive.has(main)) throw new UnreadableError(`is not ${name}: it contains no ${main}`);
  return read({ archive, losses, beginPage, readEmbedded: readWithin }, main);
}
