import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Api, Json } from "./http.ts";
import { settle } from "./settle.ts";
import { ok } from "./tenancy.ts";

/** Facts in the fixtures called `manual`. */
export const MANUAL = [
  ...["Operating manual of the Lindau pump station", "four full turns & check that the"],
  "pressure gauge reads < 2 bar",
  ...["Zwei Pumpen, grün lackiert, stehen im Keller; the naïve operator calls them", "“Max” and “Moritz”"],
  ...["Frau Özdemir, extension 4711", "The footnote says that the generator burns rapeseed oil."],
];

let made = 0;

/** Returns the body of an upload with a unique text and name. */
export function textFile(text = `Text number ${++made}.`, more: object = {}) {
  const file_content = Buffer.from(text).toString("base64");
  return { file_content, filename: `${++made}.txt`, mime_type: "text/plain", ...more };
}

/** A file of test/fixtures/documents. */
export function fixtureFile(filename: string, mime_type: string) {
  const bytes = readFileSync(join(import.meta.dirname, "../fixtures/documents", filename));
  return { file_content: bytes.toString("base64"), filename, mime_type };
}

/** Uploads, and gives the document when it has come to its end. */
export async function ingest(by: Api, file: object): Promise<Json> {
  const { document_id } = ok(await by.post("/documents", file));
  return finished(by, document_id);
}

/** Long ones take their time; and that of a node that died is not taken up before its lease is over. */
const PATIENCE_MS = 60_000;

export function finished(by: Api, document_id: string): Promise<Json> {
  const look = async () => {
    const document = ok(await by.get(`/documents/${document_id}`));
    return ["stored", "failed", "superseded"].includes(document.status) && document;
  };
  return settle(look, { within: PATIENCE_MS, what: `the document ${document_id} to come to its end` });
}

/** The path of a document's chunks. */
export function chunksOf(document: { document_id: string; ingestion_source_id: string }, query = "") {
  return `/documents/${document.document_id}/chunks?source_id=${document.ingestion_source_id}${query}`;
}

/** The path that deletes a document. */
export function itself(document: { document_id: string; ingestion_source_id: string }) {
  return `/documents/${document.document_id}?source_id=${document.ingestion_source_id}`;
}

/** The names of the documents that a search finds, each once, best first. */
export async function foundBy(by: Api, query: string, more: object = {}): Promise<string[]> {
  const { results } = ok(await by.post("/documents/search", { query, ...more }));
  const names = results.map((each: { document: { filename: string } }) => each.document.filename);
  return [...new Set<string>(names)];
}
