import { Parser } from "htmlparser2";
import { decodeText } from "./encoding.ts";
import type { Page } from "./page.ts";

const UNSEEN = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "object",
  "iframe",
  "select",
]);
const LINES = new Set(["br", "li", "tr", "dt", "dd", "option", "figcaption", "caption"]);
const BLOCKS = new Set([
  ...[
    "address",
    "article",
    "aside",
    "blockquote",
    "div",
    "dl",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
  ],
  ...[
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "title",
    "ul",
  ],
]);
const SLICE = 65_536;

/** What a reader of the page would see, its title first. */
export function readHtml(bytes: Uint8Array): Page[] {
  const html = decodeText(bytes, declaredEncoding(bytes));
  const text: string[] = [];
  let unseen = 0;
  let preformatted = 0;
  const parser = new Parser({
    onopentag(name) {
      if (UNSEEN.has(name)) unseen++;
      if (name === "pre") preformatted++;
      text.push(breakBefore(name));
    },
    onclosetag(name) {
      if (UNSEEN.has(name)) unseen--;
      if (name === "pre") preformatted--;
      text.push(breakAfter(name));
    },
    ontext(given) {
      if (!unseen) text.push(preformatted ? given : given.replace(/\s+/g, " "));
    },
  });
  for (let at = 0; at < html.length; at += SLICE) parser.write(html.slice(at, at + SLICE));
  parser.end();
  return [{ page: null, text: withoutLeadingSpace(text.join("")) }];
}

function breakBefore(name: string): string {
  if (BLOCKS.has(name)) return "\n\n";
  return LINES.has(name) ? "\n" : "";
}

function breakAfter(name: string): string {
  if (name === "td" || name === "th") return "\t";
  return BLOCKS.has(name) ? "\n\n" : "";
}

/** Where tags were indented. */
function withoutLeadingSpace(text: string): string {
  return text.replace(/\n +/g, "\n");
}

/** `<meta charset="…">` or its older form, within the first bytes as browsers have it. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
}
