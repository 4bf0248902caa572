import { expect, test } from "@jest/globals";
import { type ReadText, readDocument } from "../../services/remember/documents/reader.ts";

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
  expect(await readDocument(request("for (;;);"), going, { ...generous, cpuSeconds: 0.2 })).toEqual({
    unreadable: "takes longer than 0.2 s to parse",
  }));

/** Reads pages, each by this code. */
const reading = (count: number, code: string) =>
  request(`const [, , { beginPage }] = arguments, pages = [];
    for (let page = 1; page <= ${count}; page++) {
      if (!beginPage(page)) continue;
      ${code};
      pages.push({ page, text: "Pier " + page });
    }
    return pages;`);

test("a page that needs too much is left out and named, and the others are read", async () => {
  const filling = "if (page % 2 === 0) for (const all = []; ; ) all.push(new Array(1e6).fill(0))";
  expect(await readDocument(reading(5, filling), going, { megabytes: 64 })).toMatchObject({
    pieces: [1, 3, 5].map((page_number) => ({ page_number, text: `Pier ${page_number}` })),
    losses: [2, 4].map((page) => ({
      ...{ kind: "page that needs too much time or memory", place: `page ${page}`, count: 1 },
    })),
  });
  expect(await readDocument(reading(8, filling), going, { megabytes: 64 })).toEqual({
    unreadable: "needs more than 64 MB of memory to parse",
  });
});

test("pages for which no time is left are counted", async () => {
  const busy =
    "for (const { user } = process.threadCpuUsage(); process.threadCpuUsage().user < user + 1e5; );";
  const limits = { ...generous, cpuSeconds: 2 };
  const { pieces, losses } = (await readDocument(reading(100, busy), going, limits)) as ReadText;
  const count = 100 - pieces.length;
  expect(pieces.length).toBeGreaterThan(0);
  expect(losses).toEqual([{ kind: "page after the limit of time", place: "end of the file", count }]);
});

test("a reader that is told to stop stops", async () => {
  const ending = new AbortController();
  const reading = readDocument(request("for (;;);"), ending.signal, generous);
  ending.abort();
  expect(await reading).toEqual({ unreadable: "was not parsed completely" });
});
