import { grouped, MODEL_CHARACTERS, part } from "./generated/budget.ts";
import { quoteAsData } from "./generated/quoted.ts";

/**
 * Quotes a text that others chose, as data for a model: of one that is too long for it the beginning, with its size.
 *
 * @param whole what to do to read all of it
 */
export function quoteExcerpt(text: string, whole: string): string {
  const shown = part(text, 0, MODEL_CHARACTERS);
  return shown.length < text.length
    ? `${quoteAsData(shown)}\n\n${partNote(shown.length, text.length, whole)}`
    : quoteAsData(text);
}

/** Says that a text is cut, and how to read all of it. */
export const partNote = (shown: number, size: number, whole: string) =>
  `This is only its beginning: of ${grouped(size)} characters, ${grouped(shown)} are above. To read all of it, ${whole}.`;
