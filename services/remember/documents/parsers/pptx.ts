import type { Archive } from "./archive.ts";
import { listedParts, relationsOf } from "./office.ts";
import type { Page } from "./page.ts";
import { readXml } from "./xml.ts";

/** Returns the slides of a presentation in order, each with its speaker notes. */
export function readPptx(archive: Archive, main: string): Page[] {
  const slides = listedParts(archive, main, "sldId");
  const notes = slides.map(
    ({ part }) => relationsOf(archive, part).find(({ type }) => type === "notesSlide")?.part,
  );
  const parts = archive.open([
    ...slides.map(({ part }) => part),
    ...notes.filter((part) => part !== undefined),
  ]);
  const textIn = (part: string | undefined) => {
    const bytes = part === undefined ? undefined : parts.get(part);
    return bytes ? textOf(bytes) : "";
  };
  return slides.map(({ part }, at) => ({ page: at + 1, text: `${textIn(part)}\n\n${textIn(notes[at])}` }));
}

function textOf(bytes: Uint8Array): string {
  const text: string[] = [];
  let inText = false;
  // Skips fields: numbers and dates of the slide itself.
  let fields = 0;
  readXml(bytes, {
    open(name) {
      if (name === "t") inText = true;
      else if (name === "fld") fields++;
      else if (name === "br") text.push("\n");
      else if (name === "tc") text.push("\t");
    },
    close(name) {
      if (name === "t") inText = false;
      else if (name === "fld") fields--;
      else if (name === "p") text.push("\n");
      else if (name === "txBody") text.push("\n");
    },
    text(given) {
      if (inText && !fields) text.push(given);
    },
  });
  return text.join("");
}
