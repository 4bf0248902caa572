/** A document's text as a file that is read here: HTML or Markdown. */
export interface Converted {
  bytes: Uint8Array;
  mime_type: "text/html" | "text/markdown";
}

export interface Original {
  bytes: Uint8Array;
  filename: string;
  mime_type: string;
}

/** The converter read the file, and cannot convert it. */
export class NotConvertible extends Error {}

/** Reads scans and formats that the core does not. */
export interface DocumentConverter {
  /** @throws NotConvertible if it cannot read the file; other errors may pass */
  convert(original: Original, signal: AbortSignal): Promise<Converted>;
}
