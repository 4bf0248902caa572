import type { Archive } from "./archive.ts";
import { relationsOf } from "./office.ts";
import type { Page } from "./page.ts";
import { readXml } from "./xml.ts";

const NOTES = ["footnotes", "endnotes"];
/** Skipped: a copy of the content for older programs; and paragraph formatting with its tab stops. */
const UNSEEN = new Set(["Fallback", "pPr"]);

/** Returns the text of a Word document, notes last, as one page: page breaks depend on the renderer. */
export function readDocx(archive: Archive, main: string): Page[] {
  const related = relationsOf(archive, main);
  const notes = NOTES.flatMap((wanted) => related.find(({ type }) => type === wanted)?.part ?? []);
  const parts = archive.open([main, ...notes]);
  const texts = [main, ...notes].flatMap((name) => parts.get(name) ?? []).map(textOf);
  return [{ page: null, text: texts.join("\n\n") }];
}

function textOf(bytes: Uint8Array): string {
  const text: string[] = [];
  let cells = 0;
  let unseen = 0;
  let inText = false;
  readXml(bytes, {
    open(name) {
      if (UNSEEN.has(name)) unseen++;
      else if (unseen) return;
      else if (name === "t") inText = true;
      else if (name === "tc") cells++;
      else if (name === "tab") text.push("\t");
      else if (name === "br" || name === "cr") text.push("\n");
      else if (name === "noBreakHyphen") text.push("-");
    },
    close(name) {
      if (UNSEEN.has(name)) unseen--;
      else if (unseen) return;
      else if (name === "t") inText = false;
      else if (name === "p") text.push(cells ? " " : "\n\n");
      else if (name === "tc") {
        cells--;
        text.push("\t");
      } else if (name === "tr") text.push("\n");
      else if (name === "tbl") text.push("\n");
    },
    text(given) {
      if (inText && !unseen) text.push(given);
    },
  });
  return text.join("");
}
