import { expect, test } from "@jest/globals";
import { readDocument } from "../../../../services/remember/documents/reader.ts";
import { officeFile, PPTX, readers, slideShape, XLSX } from "../office-files.ts";

const going = new AbortController().signal;
/** Takes a thread several times the limit, and is less than a file may unpack to. */
const TOO_MUCH = "<b/>".repeat(10_000_000);
const limits = { megabytes: 512, cpuSeconds: 1 };
const losses = [{ kind: "page that needs too much time or memory", place: "page 2", count: 1 }];

test("the other slides are read when one takes too long", async () => {
  const slide = (shapes: string) => `<p:sld><p:cSld>${shapes}</p:cSld></p:sld>`;
  const bytes = officeFile({
    "ppt/presentation.xml": {
      xml: `<p:presentation>${ids("p:sldId")}</p:presentation>`,
      related: ["1", "2", "3"].map((each) => ["slide", `slide${each}.xml`]),
    },
    "ppt/slide1.xml": slide(slideShape("The first lantern")),
    "ppt/slide2.xml": slide(TOO_MUCH),
    "ppt/slide3.xml": slide(slideShape("the third")),
  });
  expect(await readDocument({ bytes, mime_type: PPTX, readers }, going, limits)).toMatchObject({
    pieces: [
      { page_number: 1, text: "The first lantern" },
      { page_number: 3, text: "the third" },
    ],
    losses,
  });
});

test("the other sheets are read when one takes too long", async () => {
  const sheet = (text: string) =>
    `<worksheet><sheetData><row><c t="inlineStr"><is><t>${text}</t></is></c></row></sheetData></worksheet>`;
  const bytes = officeFile({
    "xl/workbook.xml": {
      xml: `<workbook><sheets>${ids("sheet")}</sheets></workbook>`,
      related: ["1", "2", "3"].map((each) => ["worksheet", `sheet${each}.xml`]),
    },
    "xl/sheet1.xml": sheet("Lanterns"),
    "xl/sheet2.xml": sheet(TOO_MUCH),
    "xl/sheet3.xml": sheet("Oil"),
  });
  expect(await readDocument({ bytes, mime_type: XLSX, readers }, going, limits)).toMatchObject({
    pieces: [
      { page_number: 1, text: expect.stringContaining("Lanterns") },
      { page_number: 3, text: expect.stringContaining("Oil") },
    ],
    losses,
  });
});

const ids = (element: string) =>
  ["r0", "r1", "r2"].map((id) => `<${element} name="${id}" r:id="${id}"/>`).join("");
