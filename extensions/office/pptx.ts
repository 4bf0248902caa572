import type { Page } from "../../services/remember/documents/parsers/page.ts";
import { readAuthors, readComments } from "./comments.ts";
import { listedParts, noteUnread, type OfficeFile, readRelations } from "./office.ts";
import { readShapes } from "./shapes.ts";

/**
 * Returns the slides of a presentation in order, without hidden ones, each with its speaker notes and comments, and
 * with the texts of its layout where they first appear.
 */
export function readPptx(file: OfficeFile, main: string): Page[] {
  const authorParts = noteUnread(file, main, "presentation")
    .filter(({ type }) => type === "commentAuthors" || type === "authors")
    .map(({ part }) => part);
  const authors = readAuthors(file, authorParts);
  const layouts = new Set<string>();
  return listedParts(file.archive, main, "sldId").map(({ part }, at) => {
    const place = `slide ${at + 1}`;
    if (!file.beginPage(at + 1)) return { page: at + 1, text: "" };
    const { text, isHidden, hasMaster } = readShapes(file, part, { place });
    if (isHidden) {
      file.losses.add("hidden slide", place);
      return { page: at + 1, text: "" };
    }
    const related = noteUnread(file, part, place);
    const of = (wanted: string) =>
      related.filter(({ type, part }) => type === wanted && file.archive.has(part)).map(({ part }) => part);
    const texts = [
      text,
      ...(hasMaster ? of("slideLayout").map((layout) => layoutText(file, layout, layouts)) : []),
      ...of("notesSlide").map((notes) => readShapes(file, notes, { place: `notes of ${place}` }).text),
      ...of("comments").map((comments) => readComments(file, comments, authors)),
    ];
    return { page: at + 1, text: texts.filter(Boolean).join("\n\n") };
  });
}

/** Returns the own text of a layout and of its master, each once. */
function layoutText(file: OfficeFile, part: string, seen: Set<string>): string {
  if (seen.has(part)) return "";
  seen.add(part);
  const { text, hasMaster } = readShapes(file, part, { place: "layout", isLayout: true });
  const masters = readRelations(file.archive, part).filter(({ type }) => type === "slideMaster" && hasMaster);
  const texts = masters
    .filter(({ part }) => file.archive.has(part))
    .map((master) => layoutText(file, master.part, seen));
  return [text, ...texts].filter(Boolean).join("\n\n");
}
