import { marked, type Token, type Tokens } from "marked";
import { titleOf } from "../naming.ts";

/** What of a text is looked at for its title, as when it was saved. */
const BEGINNING = 65_536;
/** It would stand before the `#` of a heading, and make it none. */
const BYTE_ORDER_MARK = /^\ufeff/;

/**
 * The parts of an output's Markdown as a file shows them, with its title once. A text is called by what stands in it;
 * where it was given another title, that stands above it, and the text's own headings are one level lower.
 */
export function read(markdown: string, title: string): Token[] {
  const text = markdown.replace(BYTE_ORDER_MARK, "");
  const tokens = marked.lexer(text, { gfm: true });
  if (titleOf(text.slice(0, BEGINNING)) === title) return tokens;
  marked.walkTokens(tokens, (token) => {
    if (token.type === "heading") token.depth = Math.min(token.depth + 1, 6);
  });
  return [headingOf(title), ...tokens];
}

function headingOf(text: string): Tokens.Heading {
  const words: Tokens.Text = { type: "text", raw: text, text, escaped: false };
  return { type: "heading", raw: text, depth: 1, text, tokens: [words] };
}
