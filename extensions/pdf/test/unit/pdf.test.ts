import { describe, expect, test } from "@jest/globals";
import { Losses } from "../../../../services/remember/documents/parsers/page.ts";
import { MANUAL } from "../../../../test/support/documents.ts";
import { pdfOf } from "../../../../test/support/pdf.ts";
import { fixture, parsePdf } from "../pdf-files.ts";

const text = async (bytes: Uint8Array) => (await parsePdf(bytes)).map((page) => page.text).join("\f");

describe("a file of LibreOffice", () => {
  test("is read whole", async () => {
    const read = (await text(fixture("manual.pdf"))).replace(/\s+/g, " ");
    for (const fact of MANUAL) expect(read).toContain(fact);
  });

  test("has pages with numbers", async () => {
    const pages = await parsePdf(fixture("manual.pdf"));
    expect(pages.map(({ page, text }) => [page, text.split("\n")[0]])).toEqual([
      [1, "Operating manual of the Lindau pump station"],
      [2, "Maintenance"],
      [3, "Emergencies"],
    ]);
  });
});

describe("a PDF", () => {
  const pdf = (...lines: string[]) => {
    const shown = lines.map((line, at) => `1 0 0 1 50 ${700 - 14 * at} Tm (${line}) Tj`).join("\n");
    return new Uint8Array(pdfOf(Buffer.from(`BT /F 12 Tf\n${shown}\nET`, "latin1")));
  };

  test("has the words that its lines divide", async () => {
    const bytes = pdf(
      "The har-",
      "bour, in-",
      "cluding load- and",
      "customs, COVID-",
      "19 rules and well-",
      "known tides",
    );
    expect((await text(bytes)).replace(/\n/g, " ")).toBe(
      "The harbour, including load- and customs, COVID-19 rules and well-known (wellknown) tides",
    );
  });

  test("has pictures and pages that are not read, which are listed", async () => {
    const losses = new Losses();
    const picture = "<</Type/XObject/Subtype /Image/Width 9/Height 9/SMask 8 0 R>>";
    const font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
    const shown = Buffer.from("BT /F 12 Tf 50 700 Td (Quay) Tj ET");
    await parsePdf(new Uint8Array(pdfOf(shown, [font, picture, picture, picture])), losses);
    expect(`${losses}`).toBe("2 picture (pages with text)");
    const drawn = new Uint8Array(pdfOf(Buffer.from("0 0 m 9 9 l S")));
    await expect(parsePdf(drawn)).rejects.toThrow("1 page without text (page 1)");
  });

  test("may have bytes before it", async () => {
    const bytes = Buffer.concat([Buffer.from("HTTP/1.1 200 OK junk "), pdf("Tide table")]);
    expect(await text(new Uint8Array(bytes))).toBe("Tide table");
  });
});

describe("what cannot be read says why", () => {
  const cut = (bytes: Uint8Array) => bytes.slice(0, Math.floor(bytes.length / 2));

  test.each<[string, () => Uint8Array, RegExp]>([
    ["an encrypted PDF", () => fixture("encrypted.pdf"), /^is encrypted: upload it without a password$/],
    ["a PDF without text", () => fixture("picture.pdf"), /^contains no text/],
    ["a PDF cut off", () => cut(fixture("manual.pdf")), /damaged|no text/],
    [
      "a PDF of nothing but its mark",
      () => new TextEncoder().encode("%PDF-1.7\n"),
      /^is damaged or incomplete$/,
    ],
  ])("%s", (_what, make, reason) => expect(parsePdf(make())).rejects.toThrow(reason));
});
