import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chunksOf, ingest } from "../test/support/documents.ts";
import type { Api } from "../test/support/http.ts";
import { ok } from "../test/support/tenancy.ts";
import { residentMegabytes } from "./lib/load.ts";
import type { Part, Row } from "./lib/report.ts";
import { newWorld } from "./lib/world.ts";

const FOLDER = join(import.meta.dirname, "../test/fixtures/documents");
const OFFICE = "application/vnd.openxmlformats-officedocument.";
/** Each with the flat OpenDocument file that another program made it from: its words are the expected ones. */
const FILES = [
  { name: "manual.docx", source: "manual.fodt", mime_type: `${OFFICE}wordprocessingml.document` },
  { name: "festival.pptx", source: "festival.fodp", mime_type: `${OFFICE}presentationml.presentation` },
  { name: "inventory.xlsx", source: "inventory.fods", mime_type: `${OFFICE}spreadsheetml.sheet` },
  { name: "manual.pdf", source: "manual.fodt", mime_type: "application/pdf" },
  { name: "manual.html", source: "manual.fodt", mime_type: "text/html" },
];
type File = (typeof FILES)[number];

const ROUNDS = 20;
const MEGABYTES = 3;
/** For collections of garbage, and for memory to go back to the system. */
const REST_MS = 15_000;

/** How much of documents is read, how fast, and how much memory stays in use. */
export const documentsPart: Part = {
  name: "documents",
  title: "Documents",
  note: "Words of files that LibreOffice made from sources whose words are known (test/fixtures/documents).",
  async run() {
    const world = await newWorld();
    try {
      const read = await wordsRead(world.admin);
      await rest();
      const before = residentMegabytes(world.server.pid());
      const started = performance.now();
      for (let round = 1; round <= ROUNDS; round++)
        for (const file of FILES) await ingest(world.admin, upload(file, round));
      const seconds = (performance.now() - started) / 1000;
      await rest();
      const grown = residentMegabytes(world.server.pid()) - before;
      const count = ROUNDS * FILES.length;
      return [
        ...read,
        {
          what: `${count} documents, one after the other`,
          figure: `${(count / seconds).toFixed(1)} a second`,
        },
        {
          what: "resident memory after them, over before",
          figure: `${grown.toFixed(0)} MB`,
          ...{ target: "≤ 60 MB", met: grown <= 60 },
        },
        await textRead(world.admin),
      ];
    } finally {
      await world.stop();
    }
  },
};

async function wordsRead(admin: Api): Promise<Row[]> {
  const rows: Row[] = [];
  for (const file of FILES) {
    const document = await ingest(admin, upload(file, 0));
    const { chunks } = ok(await admin.get(chunksOf(document, "&limit=100")));
    const stored = new Set(chunks.flatMap(({ text }: { text: string }) => wordsOf(text)));
    const expected = new Set(wordsOf(textOf(file.source)));
    const missing = [...expected].filter((word) => !stored.has(word));
    rows.push({
      what: `expected words in ${file.name}`,
      figure: `${expected.size - missing.length} of ${expected.size}`,
      ...{ target: "all", met: missing.length === 0 },
    });
  }
  return rows;
}

async function textRead(admin: Api): Promise<Row> {
  const line = (n: number) => `Entry ${n}: the pump ran for ${n % 60} minutes and moved ${n * 7} litres.\n`;
  let text = "";
  for (let n = 0; text.length < MEGABYTES * 1e6; n++) text += line(n);
  const file_content = Buffer.from(text).toString("base64");
  const started = performance.now();
  await ingest(admin, { file_content, filename: "log.txt", mime_type: "text/plain" });
  const speed = MEGABYTES / ((performance.now() - started) / 1000);
  return {
    what: `text of ${MEGABYTES} MB, vectors follow`,
    figure: `${speed.toFixed(1)} MB a second`,
    ...{ target: "≥ 1 MB a second", met: speed >= 1 },
  };
}

/** Returns the file with other bytes and the same text, as equal files are stored once. */
function upload({ name, mime_type }: File, round: number) {
  const bytes = readFileSync(join(FOLDER, name));
  const note = Buffer.from(mime_type.startsWith(OFFICE) ? `${round}` : `\n<!-- %${round} -->\n`);
  // The length of a ZIP file's comment is at its end.
  if (mime_type.startsWith(OFFICE)) bytes.writeUInt16LE(note.length, bytes.length - 2);
  const file_content = Buffer.concat([bytes, note]).toString("base64");
  return { file_content, filename: `${round}-${name}`, mime_type };
}

/** Returns the text of a flat OpenDocument file. */
function textOf(source: string): string {
  const [, body = ""] = readFileSync(join(FOLDER, source), "utf8").split("<office:body>");
  const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
  // Programs count notes themselves.
  const counted = /<text:note-citation>.*?<\/text:note-citation>/g;
  return body
    .replace(counted, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/&\w+;/g, (entity) => entities[entity] ?? entity);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));
