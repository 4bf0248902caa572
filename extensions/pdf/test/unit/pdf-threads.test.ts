import { expect, test } from "@jest/globals";
import { readDocument } from "../../../../services/remember/documents/reader.ts";
import { endlessPdf, pagesPdf, pdfOf } from "../../../../test/support/pdf.ts";
import { PDF as mime_type, readers } from "../pdf-files.ts";

const going = new AbortController().signal;
const generous = { megabytes: 512 };

test("an unfinished file says so in one sentence", async () => {
  const bytes = pdfOf(Buffer.from("BT /F 12 Tf 50 700 Td (unfinished"));
  expect(await readDocument({ bytes, mime_type, readers }, going, generous)).toEqual({
    unreadable: expect.stringMatching(/damaged|no text/),
  });
});

test("a page that unpacks to more than a thread may hold ends the thread, and the others are read", async () => {
  const shown = (text: string) => Buffer.from(`BT /F 12 Tf 50 700 Td (${text}) Tj ET`);
  const bytes = pagesPdf([shown("The first lantern"), Buffer.alloc(80_000_000, " "), shown("the second")]);
  expect(bytes.length).toBeLessThan(100_000);
  expect(await readDocument({ bytes, mime_type, readers }, going, { megabytes: 64 })).toMatchObject({
    pieces: [
      { page_number: 1, text: "The first lantern" },
      { page_number: 3, text: "the second" },
    ],
    losses: [{ kind: "page that needs too much time or memory", place: "page 2" }],
  });
});

test("a file that takes too long is given up", async () => {
  const bytes = endlessPdf("endless");
  // More than a busy machine needs to load the reader: its page has begun when the time is over.
  expect(await readDocument({ bytes, mime_type, readers }, going, { ...generous, cpuSeconds: 1 })).toEqual({
    unreadable: "takes longer than 1 s to parse",
  });
});
