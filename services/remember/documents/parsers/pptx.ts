import { Blocks } from "../../../../lib/text/blocks.ts";
import { type Archive, listedParts, readRelations, readXml } from "./office.ts";
import type { Page } from "./page.ts";

/** Skipped: a copy for older programs, and fields, such as the slide's number and the date. */
const UNSEEN = new Set(["Fallback", "fld"]);

/** Returns the slides of a presentation in order, each with its speaker notes, without hidden ones. */
export function readPptx(archive: Archive, main: string): Page[] {
  const slides = listedParts(archive, main, "sldId");
  return slides.map(({ part }, at) => {
    const slide = readText(archive.require(part));
    if (slide === null) return { page: at + 1, text: "" };
    const notes = readRelations(archive, part).find(({ type }) => type === "notesSlide")?.part;
    const bytes = notes && archive.open([notes]).get(notes);
    return { page: at + 1, text: `${slide}\n\n${(bytes && readText(bytes)) || ""}` };
  });
}

/** Returns null for a hidden slide. */
function readText(bytes: Uint8Array): string | null {
  const blocks = new Blocks();
  let inText = false;
  let unseen = 0;
  let isTitle = false;
  let isShown = true;
  readXml(bytes, {
    open(name, { type, show }) {
      if (unseen || UNSEEN.has(name)) unseen++;
      else if (name === "sld") isShown = show !== "0" && show !== "false";
      else if (name === "ph") isTitle = type === "title" || type === "ctrTitle";
      else if (name === "p" && isTitle) blocks.heading(1);
      else if (name === "t") inText = true;
      else if (name === "br") blocks.lineBreak();
      else if (name === "tbl") blocks.openTable();
      else if (name === "tr") blocks.openRow();
      // A merged cell is followed by those that it covers, which are empty.
      else if (name === "tc") blocks.openCell();
    },
    close(name) {
      if (unseen) unseen--;
      else if (name === "t") inText = false;
      else if (name === "sp") isTitle = false;
      else if (name === "p") blocks.endBlock(1);
      else if (name === "txBody") blocks.break(2);
      else if (name === "tc") blocks.closeCell();
      else if (name === "tr") blocks.closeRow();
      else if (name === "tbl") blocks.closeTable();
    },
    text(given) {
      if (inText && !unseen) blocks.text(given);
    },
  });
  return isShown ? blocks.end() : null;
}
