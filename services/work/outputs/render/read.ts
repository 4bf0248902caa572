import { marked, type Token, type Tokens } from "marked";
import { deriveTitle, withoutFrontMatter } from "../naming.ts";

/** The part of a text that is examined for its title, as on saving. */
const BEGINNING = 65_536;
/** Control characters, which divide words, and characters that are invalid in XML; tabs and line ends stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/g;

/**
 * Returns the tokens of an output's Markdown as a file shows them, with its title once. A title other than the text's
 * is put above it, and the text's headings are moved down one level.
 */
export function read(markdown: string, title: string): Token[] {
  const text = withoutFrontMatter(markdown.replace(CONTROLS, " "));
  const tokens = marked.lexer(text, { gfm: true });
  if (deriveTitle(markdown.slice(0, BEGINNING)) === title) return tokens;
  marked.walkTokens(tokens, (token) => {
    if (token.type === "heading") token.depth = Math.min(token.depth + 1, 6);
  });
  return [headingOf(title), ...tokens];
}

function headingOf(text: string): Tokens.Heading {
  const words: Tokens.Text = { type: "text", raw: text, text, escaped: false };
  return { type: "heading", raw: text, depth: 1, text, tokens: [words] };
}
