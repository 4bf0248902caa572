import type { OfficeFile } from "./office.ts";
import { allOf, childOf, parseXml, singleSpaced, textOf, writtenIn } from "./xml.ts";

/** Comments of a slide, notes of a sheet, and replies. */
const ENTRIES = ["cm", "reply", "comment", "threadedComment"];
/** Entries whose element `text` is the text itself. */
const PLAIN = ["cm", "threadedComment"];

/** Returns the names of those who comment, by their ids. */
export function readAuthors({ archive }: OfficeFile, parts: string[]): Map<string, string> {
  const people = parts.flatMap((part) =>
    allOf(parseXml(archive.open(part)), "cmAuthor", "author", "person").map(({ attributes }) => attributes),
  );
  return new Map(people.map(({ id = "", name = "", displayName = name }) => [id, displayName]));
}

/** Returns the comments of a part with their authors, one for each line. */
export function readComments(
  { archive }: OfficeFile,
  part: string,
  authors: ReadonlyMap<string, string>,
): string {
  const list = parseXml(archive.open(part));
  /** Authors that a list of notes names itself. */
  const own = allOf(list, "author").map(textOf);
  const lines = allOf(list, ...ENTRIES).flatMap((entry) => {
    const { ref, authorId = "", personId = authorId } = entry.attributes;
    const author = authors.get(personId) ?? own[Number(personId)] ?? "";
    const plain = PLAIN.includes(entry.name) ? textOf(childOf(entry, "text")) : "";
    const text = singleSpaced(plain + writtenIn(entry, (name) => ENTRIES.includes(name)));
    // A thread's note for older programs.
    if (!text || author.startsWith("tc=")) return [];
    const about = ref ? ` on ${ref}` : "";
    const by = author && !text.startsWith(author) ? ` (${author})` : "";
    return [`Comment${about}${by}: ${text}`];
  });
  return lines.join("\n");
}
