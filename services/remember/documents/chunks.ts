import { passagesOf } from "../../../lib/text/passages.ts";
import type { Page } from "./parsers/page.ts";

/** A piece of a document: `text` stands at `char_offset` of its whole text (spec: Knowledge document and chunk). */
export interface Piece {
  page_number: number | null;
  char_offset: number;
  char_length: number;
  chunk_index: number;
  text: string;
}

/** Between pages in the whole text of a document. */
export const PAGE_BREAK = "\n\n";

/** Cuts pages into pieces that overlap, at the ends of paragraphs and sentences; none reaches over a page. */
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
