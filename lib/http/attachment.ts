import { create } from "content-disposition";

/** What no file system takes in a name, and what ends a header line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
const UNSAFE = /[\u0000-\u001f\u007f<>:"/\\|?*]+/g;
const LONGEST = 150;

/** The headers under which a browser saves an answer as a file (RFC 6266). @param filename as somebody gave it */
export function attachment(filename: string): Record<string, string> {
  return { "Content-Disposition": create(safeFilename(filename)), "X-Content-Type-Options": "nosniff" };
}

/** The last part of a path, without what a file system or a header would take for something else. */
export function safeFilename(filename: string): string {
  const base = filename.split(/[/\\]/).at(-1) ?? "";
  const safe = base.replace(UNSAFE, "_").replace(/^[.\s]+|[.\s]+$/g, "");
  // Half a character, which the cut may leave in front, cannot be written into a header.
  return safe.slice(-LONGEST).replace(/^[\udc00-\udfff]/, "") || "file";
}
