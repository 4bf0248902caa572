import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Losses } from "../../../services/remember/documents/parsers/page.ts";
import { parseDocument } from "../../../services/remember/documents/parsers/parse.ts";

export const PDF = "application/pdf";
export const readers = { [PDF]: import.meta.resolve("../pdf.ts") };

/** A file of test/fixtures/documents. */
export const fixture = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dirname, "../../../test/fixtures/documents", name)));

/** Parses a PDF on a server with this extension. */
export const parsePdf = (bytes: Uint8Array, losses = new Losses()) =>
  parseDocument(bytes, PDF, losses, { readers });
