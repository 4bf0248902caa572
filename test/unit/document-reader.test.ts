import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readDocument } from "../../services/remember/documents/reader.ts";
import { endlessPdf, pdfOf } from "../support/pdf.ts";

const mime_type = "application/pdf";
const going = new AbortController().signal;
const generous = { megabytes: 512 };

test("a document is read in a thread, and the bytes stay the caller's", async () => {
  const bytes = readFileSync(join(import.meta.dirname, "../fixtures/documents/manual.pdf"));
  const size = bytes.length;
  const reading = await readDocument({ bytes, mime_type, readers: {} }, going, generous);
  expect(reading).toMatchObject({ pieces: [{ page_number: 1 }, { page_number: 2 }, { page_number: 3 }] });
  expect(bytes).toHaveLength(size);
});

test("a parser that fails says so in one sentence", async () => {
  const bytes = pdfOf(Buffer.from("BT /F 12 Tf 50 700 Td (unfinished"));
  expect(await readDocument({ bytes, mime_type, readers: {} }, going, generous)).toEqual({
    unreadable: expect.stringMatching(/damaged|no text/),
  });
});

test("a page that unpacks to more than a thread may hold ends the thread, not the process", async () => {
  const bytes = pdfOf(Buffer.alloc(80_000_000, " "));
  expect(bytes.length).toBeLessThan(100_000);
  expect(await readDocument({ bytes, mime_type, readers: {} }, going, { megabytes: 64 })).toEqual({
    unreadable: "needs more than 64 MB of memory to parse",
  });
});

test("what takes too long is given up", async () => {
  const bytes = endlessPdf("endless");
  expect(await readDocument({ bytes, mime_type, readers: {} }, going, { ...generous, seconds: 0.2 })).toEqual(
    {
      unreadable: "takes longer than 0.2 s to parse",
    },
  );
});

test("a reader that is told to stop stops", async () => {
  const ending = new AbortController();
  const bytes = endlessPdf("endless");
  const reading = readDocument({ bytes, mime_type, readers: {} }, ending.signal, generous);
  ending.abort();
  expect(await reading).toEqual({ unreadable: "was not parsed completely" });
});
