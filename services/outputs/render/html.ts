import { marked } from "marked";
import sanitize from "sanitize-html";

const STYLE =
  "body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;color:#1c1c1c}" +
  "pre,code{font-family:ui-monospace,monospace;font-size:.9em;background:#f4f4f4}pre{padding:.8rem;overflow:auto}" +
  "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3rem .6rem}img{max-width:100%}" +
  "blockquote{margin-left:0;padding-left:1rem;border-left:3px solid #ccc;color:#555}";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:";

/** A page of Markdown, of which nothing can run, whatever stood in the Markdown. */
export function renderHtml(markdown: string, title: string): string {
  const body = sanitize(marked.parse(markdown, { async: false, gfm: true }), {
    allowedTags: [...sanitize.defaults.allowedTags, "img", "del", "input"],
    allowedAttributes: {
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
    allowedSchemesByTag: { img: ["https", "data"] },
    // Of a form field only a task's box that nobody can tick.
    exclusiveFilter: ({ tag, attribs }) => tag === "input" && attribs.type !== "checkbox",
  });
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  const head = `<meta charset="utf-8">${policy}<title>${escaped(title)}</title>`;
  return `<!doctype html>\n<html><head>${head}<style>${STYLE}</style></head>\n<body>\n${body}</body></html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
