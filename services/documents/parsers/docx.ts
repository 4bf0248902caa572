import type { Archive } from "./archive.ts";
import type { Page } from "./page.ts";
import { readXml } from "./xml.ts";

const BODY = "word/document.xml";
const NOTES = ["word/footnotes.xml", "word/endnotes.xml"];

/** The text of a Word document, its notes last. Its pages are the business of whoever prints it. */
export function readDocx(archive: Archive): Page[] {
  const parts = archive.open([BODY, ...NOTES]);
  const texts = [BODY, ...NOTES].flatMap((name) => parts.get(name) ?? []).map(textOf);
  return [{ page: null, text: texts.join("\n\n") }];
}

function textOf(bytes: Uint8Array): string {
  const text: string[] = [];
  let cells = 0;
  let hidden = 0;
  let inText = false;
  readXml(bytes, {
    open(name) {
      // The same once more, for programs that cannot show it otherwise.
      if (name === "Fallback") hidden++;
      else if (name === "t") inText = true;
      else if (name === "tc") cells++;
      else if (name === "tab") text.push("\t");
      else if (name === "br" || name === "cr") text.push("\n");
    },
    close(name) {
      if (name === "Fallback") hidden--;
      else if (name === "t") inText = false;
      else if (name === "p") text.push(cells ? " " : "\n\n");
      else if (name === "tc") {
        cells--;
        text.push("\t");
      } else if (name === "tr") text.push("\n");
      else if (name === "tbl") text.push("\n");
    },
    text(given) {
      if (inText && !hidden) text.push(given);
    },
  });
  return text.join("");
}
