import { marked } from "marked";
import sanitize, { type Tag, type Transformer } from "sanitize-html";
import { isWithinLine, tags } from "../../../../lib/text/html-elements.ts";
import { hasRightToLeft } from "../../../../lib/text/right-to-left.ts";
import { read } from "./read.ts";

const STYLE =
  "body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;color:#1c1c1c;" +
  "overflow-wrap:break-word}h1,h2,h3,h4,h5,h6{line-height:1.3}" +
  "pre,code{font-family:ui-monospace,monospace;font-size:.9em;background:#f4f4f4}pre{padding:.8rem;overflow:auto}" +
  "h5,h6{font-size:1em}" +
  "table{border-collapse:collapse;display:block;overflow:auto;margin:1rem 0}" +
  "td,th{border:1px solid #ccc;padding:.3rem .6rem}th{background:#f2f2f2}th:not([align]){text-align:start}" +
  "img{max-width:100%}blockquote:has(>:dir(rtl)){direction:rtl}" +
  "blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid #ccc;color:#555}" +
  "@media print{body{max-width:none;margin:0}pre{white-space:pre-wrap}}";

/** Blocks all loading, so that opening the page is not reported to anyone. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** Elements that take the direction of their first letter. */
const DIRECTED = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table"];
const inItsDirection = Object.fromEntries(
  DIRECTED.map((tag) => [tag, sanitize.simpleTransform(tag, { dir: "auto" })]),
);

const WEB = /^https?:\/\//i;

/** Keeps embedded images; external ones become links, and others their text. */
const imageOrLink: Transformer = (tagName, attribs): Tag => {
  const { src = "", alt = "" } = attribs;
  if (/^data:image\//i.test(src)) return { tagName, attribs };
  if (!WEB.test(src)) return { tagName: "em", attribs: {}, text: alt };
  return { tagName: "a", attribs: { href: src }, text: alt || src };
};

const ALLOWED = [...sanitize.defaults.allowedTags, "img", "del", "input", "details", "summary"];
/** Elements whose content is no text. */
const NO_TEXT = tags("script style textarea option noscript title iframe svg math");

/** An element that is not allowed still divides what it divides. */
const divided: Transformer = (tagName, attribs): Tag => {
  if (ALLOWED.includes(tagName) || NO_TEXT.has(tagName)) return { tagName, attribs };
  return { tagName: isWithinLine(tagName) ? "span" : "div", attribs: {} };
};

/** Renders Markdown as a page that cannot run scripts or load resources, whatever the Markdown contains. */
export function renderHtml(markdown: string, title: string): string {
  const body = sanitize(marked.parser(read(markdown, title), { gfm: true }), {
    allowedTags: ALLOWED,
    transformTags: { ...(hasRightToLeft(markdown) && inItsDirection), img: imageOrLink, "*": divided },
    allowedAttributes: {
      "*": ["dir"],
      a: ["href", "title"],
      img: ["src", "alt", "title", "width", "height"],
      th: ["align"],
      td: ["align"],
      ol: ["start"],
      code: ["class"],
      input: [
        { name: "type", values: ["checkbox"] },
        { name: "disabled", values: [""] },
        { name: "checked", values: [""] },
      ],
    },
    allowedClasses: { code: ["language-*"] },
    allowedSchemes: ["http", "https", "mailto"],
    allowedSchemesByTag: { img: ["data"] },
    // The only form field allowed is a task's disabled checkbox.
    exclusiveFilter: ({ tag, attribs }) => tag === "input" && attribs.type !== "checkbox",
  });
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  const referrer = '<meta name="referrer" content="no-referrer">';
  const view = '<meta name="viewport" content="width=device-width">';
  const head = `<meta charset="utf-8">${policy}${referrer}${view}<title>${escaped(title)}</title>`;
  return `<!doctype html>\n<html><head>${head}<style>${STYLE}</style></head>\n<body>\n${body}</body></html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
