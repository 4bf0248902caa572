/** The format of a file by its first bytes, whatever it claims to be. */
export type Format = "pdf" | "zip" | "ole" | "rtf" | "image" | "binary" | "text";

const MARKS: [Format, string][] = [
  ["zip", "PK\u0003\u0004"],
  ["zip", "PK\u0005\u0006"],
  // Office files from before 2007, and encrypted ones.
  ["ole", "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1"],
  ["rtf", "{\\rtf"],
  ["image", "\u0089PNG\r\n"],
  ["image", "\u00ff\u00d8\u00ff"],
];
/** A PDF may have leading bytes. */
const PDF_WITHIN = 1024;

/** @param claimed the declared format: text may mention another format */
export function detectFormat(bytes: Uint8Array, claimed: Format): Format {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_WITHIN)).toString(
    "latin1",
  );
  const text = head.replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, "");
  const marked = MARKS.find(([format, mark]) => (format === "rtf" ? text : head).startsWith(mark));
  if (marked) return marked[0];
  if (head.startsWith("%PDF-") || (claimed === "pdf" && /%PDF-\d/.test(head))) return "pdf";
  if (isWide(head) || !head.includes("\0")) return "text";
  return head.startsWith("GIF8") ? "image" : "binary";
}

/** Detects UTF-16 by its byte order mark. */
const isWide = (head: string) => head.startsWith("\u00ff\u00fe") || head.startsWith("\u00fe\u00ff");
