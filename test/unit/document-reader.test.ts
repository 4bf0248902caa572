import { expect, test } from "@jest/globals";
import { readDocument } from "../../services/remember/documents/reader.ts";

const mime_type = "application/pdf";
const going = new AbortController().signal;
const generous = { megabytes: 512 };

/** A document, and the reader of its type with this code, as an extension brings it. */
const request = (code: string) => ({
  ...{ bytes: Buffer.from("%PDF-1.7\n"), mime_type },
  readers: {
    [mime_type]: `data:text/javascript,export async function read() { ${encodeURIComponent(code)} }`,
  },
});

test("a document is read in a thread, and the bytes stay the caller's", async () => {
  const given = request('return [{ page: 1, text: "Quay" }, { page: 2, text: "Pier" }];');
  const size = given.bytes.length;
  const reading = await readDocument(given, going, generous);
  expect(reading).toMatchObject({ pieces: [{ page_number: 1 }, { page_number: 2 }], losses: [] });
  expect(given.bytes).toHaveLength(size);
});

test("a parser that fails says so in one sentence", async () =>
  expect(await readDocument(request('throw new TypeError("x is not iterable");'), going, generous)).toEqual({
    unreadable: "is damaged or incomplete",
  }));

test("a file that takes more memory than a thread may have ends the thread, not the process", async () => {
  const filling = request("for (const all = []; ; ) all.push(new Array(1e6).fill(0));");
  expect(await readDocument(filling, going, { megabytes: 64 })).toEqual({
    unreadable: "needs more than 64 MB of memory to parse",
  });
});

test("what takes too long is given up", async () =>
  expect(await readDocument(request("for (;;);"), going, { ...generous, seconds: 0.2 })).toEqual({
    unreadable: "takes longer than 0.2 s to parse",
  }));

test("a reader that is told to stop stops", async () => {
  const ending = new AbortController();
  const reading = readDocument(request("for (;;);"), ending.signal, generous);
  ending.abort();
  expect(await reading).toEqual({ unreadable: "was not parsed completely" });
});
