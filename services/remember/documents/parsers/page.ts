/** A part of a document that has a number of its own, where the format has such: a page, a slide, a sheet; from 1. */
export interface Page {
  page: number | null;
  text: string;
}

/** What cannot be read, in words for the person who sent it: they follow "The file …". */
export class UnreadableError extends Error {}

/** More text than this is no document to be cited from, but data. */
const MAX_CHARACTERS = 10_000_000;

/** Pages with their text tidied. @throws UnreadableError when there is no text, or far too much. */
export function tidied(pages: Page[]): Page[] {
  const tidy = pages.map(({ page, text }) => ({ page, text: tidyText(text) }));
  const characters = tidy.reduce((sum, { text }) => sum + text.length, 0);
  if (characters === 0) throw new UnreadableError("holds no text; pictures and scans are not read");
  if (characters > MAX_CHARACTERS) {
    throw new UnreadableError(`holds ${characters} characters of text; at most ${MAX_CHARACTERS} are read`);
  }
  return tidy;
}

function tidyText(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?/g, "\n")
      .replace(/\0/g, "")
      // Bounded runs: an unbounded one before an anchor is tried from each of its characters.
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  );
}
