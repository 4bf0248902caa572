import { type OfficeFile, readXml } from "./office.ts";

/** A comment of a slide, a sheet's note, or a reply. */
interface Comment {
  /** The cell that it is about. */
  cell: string;
  author: string;
  text: string;
}

const ENTRIES = new Set(["cm", "reply", "comment", "threadedComment"]);
/** Entries whose element `text` is the text itself. */
const PLAIN = new Set(["cm", "threadedComment"]);

/** Returns the names of those who comment, by their ids. */
export function readAuthors({ archive }: OfficeFile, parts: string[]): Map<string, string> {
  const authors = new Map<string, string>();
  for (const part of parts) {
    readXml(archive.open(part), {
      open(_name, { id, name, displayName }) {
        if (id !== undefined) authors.set(id, displayName ?? name ?? "");
      },
    });
  }
  return authors;
}

/** Returns the comments of a part with their authors, one for each line. */
export function readComments(file: OfficeFile, part: string, authors: ReadonlyMap<string, string>): string {
  const lines = listComments(file, part, authors).map(({ cell, author, text }) => {
    const about = cell && ` on ${cell}`;
    const by = author && !text.startsWith(author) ? ` (${author})` : "";
    return `Comment${about}${by}: ${text}`;
  });
  return lines.join("\n");
}

function listComments(
  { archive }: OfficeFile,
  part: string,
  authors: ReadonlyMap<string, string>,
): Comment[] {
  const comments: Comment[] = [];
  /** Authors that a list of notes names itself. */
  const own: string[] = [];
  const open: (Comment & { name: string })[] = [];
  let inText = false;
  let inAuthor = false;
  let phonetic = false;
  readXml(archive.open(part), {
    open(name, { ref = "", authorId = "", personId = authorId }) {
      if (ENTRIES.has(name)) {
        const comment = {
          name,
          cell: ref,
          author: authors.get(personId) ?? own[Number(personId)] ?? "",
          text: "",
        };
        open.push(comment);
        comments.push(comment);
      } else if (name === "author") {
        own.push("");
        inAuthor = true;
      } else if (name === "t" || (name === "text" && PLAIN.has(open.at(-1)?.name ?? ""))) inText = true;
      else if (name === "rPh") phonetic = true;
    },
    close(name) {
      if (ENTRIES.has(name)) open.pop();
      else if (name === "author") inAuthor = false;
      else if (name === "t" || name === "text") inText = false;
      else if (name === "rPh") phonetic = false;
      else if (name === "p" && open.length) (open.at(-1) as Comment).text += "\n";
    },
    text(given) {
      if (inAuthor) own[own.length - 1] += given;
      else if (inText && !phonetic && open.length) (open.at(-1) as Comment).text += given;
    },
  });
  return comments
    .map((comment) => ({ ...comment, text: comment.text.replace(/\s+/g, " ").trim() }))
    .filter(({ author, text }) => text && !author.startsWith("tc="));
}
