import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MAX_PASSAGE } from "../../lib/text/passages.ts";
import { chunkPages, PAGE_BREAK } from "../../services/remember/documents/chunks.ts";

const words = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), { maxLength: 400 });
const gaps = fc.constantFrom(" ", "  ", ". ", "! ", "\n", "\n\n", "\n\n\n", "\t", "。", "");
const texts = fc
  .tuple(words, fc.array(gaps, { minLength: 1, maxLength: 20 }))
  .map(([parts, between]) => parts.map((part, at) => part + between[at % between.length]).join(""));
const documents = fc
  .array(texts, { maxLength: 4 })
  .map((pages) => pages.map((text, at) => ({ page: at + 1, text })));

const wholeOf = (pages: { text: string }[]) => pages.map(({ text }) => text).join(PAGE_BREAK);

test("every piece stands in the text where it says, none is too long, and nothing is left out", () => {
  const property = fc.property(documents, (pages) => {
    const whole = wholeOf(pages);
    const covered = new Uint8Array(whole.length);
    let last = -1;
    for (const [at, piece] of chunkPages(pages).entries()) {
      expect(piece.chunk_index).toBe(at);
      expect(piece.char_length).toBe(piece.text.length);
      expect(piece.text.length).toBeLessThanOrEqual(MAX_PASSAGE);
      expect(piece.text).toBe(piece.text.trim());
      expect(piece.text).not.toBe("");
      expect(whole.slice(piece.char_offset, piece.char_offset + piece.char_length)).toBe(piece.text);
      expect(piece.char_offset).toBeGreaterThan(last);
      last = piece.char_offset;
      covered.fill(1, piece.char_offset, piece.char_offset + piece.char_length);
    }
    const missed = [...covered.keys()].filter((at) => !covered[at] && (whole[at] as string).trim() !== "");
    expect(missed).toEqual([]);
  });
  fc.assert(property, { numRuns: 200 });
});

test("pieces are of one page each", () => {
  const property = fc.property(documents, (pages) => {
    for (const { page_number, char_offset, text } of chunkPages(pages)) {
      const before = wholeOf(pages.slice(0, (page_number as number) - 1));
      const start = page_number === 1 ? 0 : before.length + PAGE_BREAK.length;
      expect(char_offset).toBeGreaterThanOrEqual(start);
      const { text: own } = pages[(page_number as number) - 1] as { text: string };
      expect(char_offset + text.length).toBeLessThanOrEqual(start + own.length);
    }
  });
  fc.assert(property, { numRuns: 100 });
});

describe("pieces end", () => {
  const sentence = (n: number) => `This is sentence number ${n} of a rather long paragraph. `;
  const paragraph = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => sentence(from + at))
      .join("")
      .trim();

  test("with a paragraph, once it is long enough", () => {
    const text = [paragraph(0, 12), paragraph(12, 12), paragraph(24, 3)].join("\n\n");
    const pieces = chunkPages([{ page: null, text }]);
    expect(pieces.map((piece) => piece.text)).toEqual([
      paragraph(0, 12),
      [paragraph(12, 12), paragraph(24, 3)].join("\n\n"),
    ]);
  });

  test("with a sentence of a script without spaces too", () => {
    const text = Array.from({ length: 150 }, (_, n) => `他说「第${n}句话说明文件怎样保存。」`).join("");
    const pieces = chunkPages([{ page: null, text }]);
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) expect(piece.text).toMatch(/^他说.*。」$/);
    const [first, second] = pieces;
    expect(second?.char_offset).toBeLessThan(first?.char_length as number);
  });

  test("with a sentence, and the next begins with the last of it again", () => {
    const [first, second] = chunkPages([{ page: null, text: paragraph(0, 40) }]);
    expect(first?.text).toMatch(/paragraph\.$/);
    expect(second?.text).toMatch(/^This is sentence/);
    expect(first?.text).toContain(second?.text.slice(0, 50) as string);
  });

  test("between words where there is no sentence, and never within a character", () => {
    const [first] = chunkPages([{ page: null, text: "word ".repeat(1000) }]);
    expect(first?.text).toMatch(/word$/);
    const odd = `x${"😀".repeat(2000)}`;
    for (const { text } of chunkPages([{ page: null, text: odd }])) expect(text.isWellFormed()).toBe(true);
  });
});

test("ten million characters without an end are cut in no time", () => {
  const pieces = chunkPages([{ page: null, text: "a".repeat(10_000_000) }]);
  expect(pieces.length).toBe(Math.ceil(10_000_000 / MAX_PASSAGE));
});

test("each chunk of a long table begins with the table's header, and rows stay whole", () => {
  const header = "| Berth | Ship |\n| --- | --- |\n";
  const rows = Array.from({ length: 90 }, (_, at) => `| No. ${at}. East | Ship ${at}. Steel |`);
  const text = `Berths\n\n${header}${rows.join("\n")}\n\nThe end.`;
  const pieces = chunkPages([{ page: 1, text }]);
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) {
    expect(piece.text).toContain(header);
    expect(piece.text.endsWith(text.substr(piece.char_offset, piece.char_length))).toBe(true);
    for (const line of piece.text.split("\n")) if (line.includes("No.")) expect(rows).toContain(line);
  }
});
