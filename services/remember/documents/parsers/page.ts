/** A numbered part of a document, in formats that have them: a page, slide or sheet; from 1. */
export interface Page {
  page: number | null;
  text: string;
}

/** Reports an unreadable file. The message is for the uploader and follows "The file …". */
export class UnreadableError extends Error {}

/** A file with more text is data, not a document to cite. */
const MAX_CHARACTERS = 10_000_000;

/** Normalises the pages' text. @throws UnreadableError if there is no text, or far too much. */
export function tidied(pages: Page[]): Page[] {
  const tidy = pages.map(({ page, text }) => ({ page, text: tidyText(text) }));
  const characters = tidy.reduce((sum, { text }) => sum + text.length, 0);
  if (characters === 0) throw new UnreadableError("contains no text: images and scans are not supported");
  if (characters > MAX_CHARACTERS) {
    throw new UnreadableError(`has ${characters} characters of text; the limit is ${MAX_CHARACTERS}`);
  }
  return tidy;
}

function tidyText(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?/g, "\n")
      .replace(/\0/g, "")
      // Bounded repetitions: an unbounded one before an anchor is tried from each character.
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim()
  );
}
