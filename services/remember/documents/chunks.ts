import { passagesOf } from "../../../lib/text/passages.ts";
import type { Page } from "./parsers/page.ts";

/** A chunk of a document: `text` starts at `char_offset` of the whole text (spec: Knowledge document and chunk). */
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
    for (const [start, end] of passagesOf(text)) {
      const char_offset = offset + start;
      pieces.push({
        page_number: page,
        char_offset,
        char_length: end - start,
        chunk_index: pieces.length,
        text: text.slice(start, end),
      });
    }
    offset += text.length + PAGE_BREAK.length;
  }
  return pieces;
}
