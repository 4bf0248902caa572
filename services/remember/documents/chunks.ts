import { splitPassages } from "../../../lib/text/passages.ts";
import type { Page } from "./parsers/page.ts";

/**
 * A chunk of a document: `text` starts at `char_offset` of the whole text (spec: Knowledge document and chunk). One that
 * begins within a table repeats the table's header before that.
 */
export interface Piece {
  page_number: number | null;
  char_offset: number;
  char_length: number;
  chunk_index: number;
  text: string;
}

/** Separates pages in a document's whole text. */
export const PAGE_BREAK = "\n\n";

/** Splits pages into overlapping chunks at the ends of paragraphs and sentences; no chunk spans pages. */
export function chunkPages(pages: readonly Page[]): Piece[] {
  const pieces: Piece[] = [];
  let offset = 0;
  for (const { page, text } of pages) {
    const headerAt = tableHeaders(text);
    for (const [start, end] of splitPassages(text)) {
      const char_offset = offset + start;
      pieces.push({
        page_number: page,
        char_offset,
        char_length: end - start,
        chunk_index: pieces.length,
        text: headerAt(start) + text.slice(start, end),
      });
    }
    offset += text.length + PAGE_BREAK.length;
  }
  return pieces;
}

/** A table of Markdown: its header, the line below it, and its rows. */
const TABLE = /^(\|.*\n)(\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*\n)(?:\|.*\n?)*/gm;
/** A longer header is not repeated. */
export const MAX_HEADER = 600;

/** Returns what a chunk that begins at a position has to repeat: the header of the table whose rows it continues. */
function tableHeaders(text: string): (start: number) => string {
  const tables = [...text.matchAll(TABLE)].map(({ index, 0: { length }, 1: header = "", 2: line = "" }) => ({
    ...{ index, end: index + length, header, line },
  }));
  // Chunks come in order.
  let at = 0;
  return (start) => {
    while (at < tables.length && (tables[at] as { end: number }).end <= start) at++;
    const table = (tables[at]?.index ?? start) < start ? tables[at] : undefined;
    if (!table || table.header.length > MAX_HEADER) return "";
    return start >= table.index + table.header.length + table.line.length
      ? table.header + table.line
      : table.header;
  };
}
