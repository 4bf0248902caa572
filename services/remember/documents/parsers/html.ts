import { Parser } from "htmlparser2";
import { decodeText } from "./encoding.ts";
import type { Page } from "./page.ts";

const tags = (names: string) => new Set(names.split(" "));
const UNSEEN = tags("script style noscript template svg math object iframe select");
const LINES = tags("br li tr dt dd figcaption caption");
const BLOCKS = tags(
  "address article aside blockquote div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre " +
    "section table title ul",
);
const SLICE = 65_536;

/** Returns the visible text of a page, its title first. */
export function readHtml(bytes: Uint8Array): Page[] {
  const html = decodeText(bytes, declaredEncoding(bytes));
  const text: string[] = [];
  let unseen = 0;
  let preformatted = 0;
  let beginsLine = true;
  const push = (part: string) => {
    if (part) beginsLine = part.endsWith("\n");
    text.push(part);
  };
  const parser = new Parser({
    onopentag(name) {
      if (UNSEEN.has(name)) unseen++;
      if (name === "pre") preformatted++;
      push(breakBefore(name));
    },
    onclosetag(name) {
      if (UNSEEN.has(name)) unseen--;
      if (name === "pre") preformatted--;
      push(breakAfter(name));
    },
    ontext(given) {
      if (unseen) return;
      const shown = preformatted ? given : given.replace(/\s+/g, " ");
      // Keeps indentation of preformatted lines; other lines are indented only with their tags.
      push(beginsLine && !preformatted ? shown.trimStart() : shown);
    },
  });
  for (let at = 0; at < html.length; at += SLICE) parser.write(html.slice(at, at + SLICE));
  parser.end();
  return [{ page: null, text: text.join("") }];
}

function breakBefore(name: string): string {
  if (BLOCKS.has(name)) return "\n\n";
  return LINES.has(name) ? "\n" : "";
}

function breakAfter(name: string): string {
  if (name === "td" || name === "th") return "\t";
  return BLOCKS.has(name) ? "\n\n" : "";
}

/** Reads `<meta charset="…">` or its older form within the first bytes, like browsers. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
}
