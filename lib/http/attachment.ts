import { create } from "content-disposition";

/** Characters that file systems refuse in names, that end a header line, or that reverse a name's extension. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed here
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]+/g;
const LONGEST = 150;

/** Returns the headers that make a browser save an answer as a file (RFC 6266). @param filename untrusted */
export function attachment(filename: string): Record<string, string> {
  return { "Content-Disposition": create(safeFilename(filename)), "X-Content-Type-Options": "nosniff" };
}

/** Returns the last part of a path, without characters special to file systems or headers. */
export function safeFilename(filename: string): string {
  const base = filename.split(/[/\\]/).at(-1) ?? "";
  const safe = base.replace(UNSAFE, "_").replace(/^[.\s]+|[.\s]+$/g, "");
  // The cut may leave half of a surrogate pair, which a header cannot contain.
  return safe.slice(-LONGEST).replace(/^[\udc00-\udfff]/, "") || "file";
}
