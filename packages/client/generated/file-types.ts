// A copy of lib/http/file-types.ts, written by `npm run openapi`.
const OFFICE = "application/vnd.openxmlformats-officedocument.";

/** Media types of files with text, by the extensions of their names. */
export const FILE_TYPES = {
  pdf: "application/pdf",
  docx: `${OFFICE}wordprocessingml.document`,
  dotx: `${OFFICE}wordprocessingml.document`,
  pptx: `${OFFICE}presentationml.presentation`,
  xlsx: `${OFFICE}spreadsheetml.sheet`,
  html: "text/html",
  htm: "text/html",
  xhtml: "text/html",
  md: "text/markdown",
  markdown: "text/markdown",
  txt: "text/plain",
  log: "text/plain",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  jsonl: "application/jsonl",
  ndjson: "application/x-ndjson",
  eml: "message/rfc822",
  mht: "message/rfc822",
  mhtml: "message/rfc822",
} as const;

export type FileType = (typeof FILE_TYPES)[keyof typeof FILE_TYPES];

/** Returns the media type of a file by its name; undefined if its extension is unknown. */
export function fileTypeOf(filename: string): FileType | undefined {
  const extension = filename.slice(filename.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(FILE_TYPES, extension) ? FILE_TYPES[extension as keyof typeof FILE_TYPES] : undefined;
}
