import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { strFromU8, strToU8, unzipSync, type Zippable, zipSync } from "fflate";
import { MANUAL } from "../../../../test/support/documents.ts";
import { DOCX, PPTX, parseOffice, XLSX } from "../office-files.ts";

const fixture = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dirname, "../../../../test/fixtures/documents", name)));
const text = async (bytes: Uint8Array, type: string) =>
  (await parseOffice(bytes, type)).map((page) => page.text).join("\f");

describe("files of LibreOffice", () => {
  test("a Word document is read whole", async () => {
    const read = (await text(fixture("manual.docx"), DOCX)).replace(/\s+/g, " ");
    for (const fact of MANUAL) expect(read).toContain(fact);
  });

  test("a table of a Word document has its rows", async () =>
    expect(await text(fixture("manual.docx"), DOCX)).toContain(
      "| Part | Interval |\n| --- | --- |\n| Bearing | 400 hours |",
    ));

  test("slides come in order with their notes, without their numbers", async () =>
    expect(await parseOffice(fixture("festival.pptx"), PPTX)).toEqual([
      { page: 1, text: "Harbour festival 2025\n\nTwelve boats, three stages\nDoors open at 18:30" },
      {
        page: 2,
        text: "Budget\n\nIncome: 48,200 EUR\nCosts: 39,750 EUR\n\nMention the sponsor, the Hafenbank.",
      },
      { page: 3, text: "Risks\n\nThunderstorm: move the concert into the customs hall" },
    ]));

  test("sheets have names, rows, values of formulas, and dates", async () =>
    expect(await parseOffice(fixture("inventory.xlsx"), XLSX)).toEqual([
      {
        page: 1,
        text:
          "Inventory\n\n| Part | Shelf | Count |\n| --- | --- | --- |\n| Gasket 12 mm | A3 | 140 |\n| Impeller |  | 2 |\n" +
          "| Rapeseed oil & filter | C1 | 17.5 |\n| Total |  | 159.5 |\n| Counted on | 2025-03-01 |",
      },
      {
        page: 2,
        text: "Suppliers\n\n| Name | City |\n| --- | --- |\n| Müller & Söhne | Bregenz |\n| Acme | Lindau |",
      },
    ]));

  test("dates of a workbook that counts from 1904", async () => {
    const parts = unzipSync(fixture("inventory.xlsx"));
    const workbook = strFromU8(parts["xl/workbook.xml"] as Uint8Array);
    const later = strToU8(workbook.replace("<workbookPr ", '<workbookPr date1904="1" '));
    const [page] = await parseOffice(zipSync({ ...parts, "xl/workbook.xml": later }), XLSX);
    expect(page?.text).toContain("| Counted on | 2029-03-02 |");
  });
});

describe("files of other programs", () => {
  const relations = (...given: [type: string, target: string][]) => {
    const each = given.map(
      ([type, target], i) => `<Relationship Id="r${i}" Type="o/${type}" Target="${target}"/>`,
    );
    return strToU8(`<Relationships>${each.join("")}</Relationships>`);
  };
  const office = (main: string, xml: string, more: Zippable = {}) =>
    zipSync({ "_rels/.rels": relations(["officeDocument", main]), [main]: strToU8(xml), ...more });
  const word = (xml: string) => `<w:document><w:body>${xml}</w:body></w:document>`;

  test("a Word document is where the file says that it is, with its notes", async () => {
    const bytes = office("word/document2.xml", word("<w:p><w:t>Written online</w:t></w:p>"), {
      "word/_rels/document2.xml.rels": relations(["footnotes", "footnotes2.xml"]),
      "word/footnotes2.xml": strToU8("<w:footnotes><w:p><w:t>A note</w:t></w:p></w:footnotes>"),
    });
    expect(await text(bytes, DOCX)).toBe("Written online\n\nA note");
    await expect(parseOffice(bytes, PPTX)).rejects.toThrow("it contains no ppt/presentation.xml");
  });

  test("tab stops are no tabs, and hyphens that do not break are hyphens", async () => {
    const stops =
      '<w:pPr><w:tabs><w:tab w:val="left" w:pos="1"/><w:tab w:val="right" w:pos="2"/></w:tabs></w:pPr>';
    const line = `<w:p>${stops}<w:r><w:t>co</w:t><w:noBreakHyphen/><w:t>op</w:t><w:tab/><w:t>12</w:t></w:r></w:p>`;
    expect(await text(office("word/document.xml", word(line + line)), DOCX)).toBe("co-op\t12\n\nco-op\t12");
  });

  const paragraph = (text: string, properties = "") =>
    `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

  test("a Word document has headings, numbers of lists, and its other parts", async () => {
    const level = (depth: number, text: string, format = "decimal") =>
      `<w:lvl w:ilvl="${depth}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
    const numbering =
      `<w:numbering><w:abstractNum w:abstractNumId="7">${level(0, "%1.")}${level(1, "%1.%2")}</w:abstractNum>` +
      `<w:abstractNum w:abstractNumId="8">${level(0, "(%1)", "lowerRoman")}</w:abstractNum>` +
      '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/>' +
      '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride></w:num></w:numbering>';
    const styles =
      '<w:styles><w:style w:styleId="U2"><w:name w:val="heading 2"/></w:style>' +
      '<w:style w:styleId="Own"><w:basedOn w:val="U2"/></w:style>' +
      '<w:style w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>';
    const item = (text: string, list: number, depth = 0) =>
      paragraph(text, `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr>`);
    const body =
      paragraph("Rules", '<w:pStyle w:val="Own"/>') +
      ["Close", "Lock"].map((text) => item(text, 1)).join("") +
      item("Twice", 1, 1) +
      item("Later", 2) +
      item("Leave", 1) +
      paragraph("not shown", '<w:pStyle w:val="Secret"/>');
    const part = (name: string, text: string) => strToU8(`<w:${name}>${paragraph(text)}</w:${name}>`);
    const bytes = office("word/document.xml", word(body), {
      "word/_rels/document.xml.rels": relations(
        ...(["styles", "numbering", "comments"].map((type) => [type, `${type}.xml`]) as [string, string][]),
        ...(["header", "footer"].map((type) => [type, `${type}1.xml`]) as [string, string][]),
        ["header", "header2.xml"],
      ),
      "word/styles.xml": strToU8(styles),
      "word/numbering.xml": strToU8(numbering),
      "word/comments.xml": part("comments", "Ask the harbour master"),
      "word/header1.xml": part("hdr", "Harbour office"),
      "word/header2.xml": part("hdr", "Harbour office"),
      "word/footer1.xml": part("ftr", "Version of June"),
    });
    expect(await text(bytes, DOCX)).toBe(
      "## Rules\n\n1. Close\n2. Lock\n  2.1 Twice\n(iv) Later\n3. Leave\n\n" +
        "Harbour office\n\nVersion of June\n\nAsk the harbour master",
    );
  });

  test("hidden, deleted and moved text of a Word document is not read", async () => {
    const run = (text: string, properties = "") =>
      `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
    const ruby = (base: string, reading: string) =>
      `<w:r><w:ruby><w:rt><w:r><w:t>${reading}</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>${base}</w:t></w:r></w:rubyBase></w:ruby></w:r>`;
    const body =
      `<w:p>${run("Shown")}${run(" secret", "<w:vanish/>")}${run(" again", '<w:vanish w:val="0"/>')}</w:p>` +
      `<w:p><w:moveFrom>${run("The crane is inspected.")}</w:moveFrom></w:p><w:p><w:del>${run("Never.")}</w:del></w:p>` +
      `<w:p><w:moveTo>${run("The crane is inspected.")}</w:moveTo></w:p><w:p>${ruby("港", "みなと")}</w:p><w:p>${ruby("電", "でん")}${ruby("車", "しゃ")}${run("で")}</w:p>`;
    expect(await text(office("word/document.xml", word(body)), DOCX)).toBe(
      "Shown again\n\nThe crane is inspected.\n\n港(みなと)\n\n電車(でんしゃ)で",
    );
  });

  test("merged and empty cells keep the columns of a Word table", async () => {
    const cell = (text: string, properties = "") =>
      `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
    const merge = (value = "continue") => `<w:vMerge w:val="${value}"/>`;
    const rows = [
      cell("Pier") + cell("Depth") + cell("Crane"),
      cell("North", merge("restart")) + cell("") + cell("A|1"),
      cell("", merge()) + cell("wide", '<w:gridSpan w:val="2"/>'),
      cell("South", '<w:gridSpan w:val="2"/>') + cell("B2"),
    ];
    const body = `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join("")}</w:tbl>`;
    expect(await text(office("word/document.xml", word(body)), DOCX)).toBe(
      "| Pier | Depth | Crane |\n| --- | --- | --- |\n| North |  | A\\|1 |\n|  | wide |  |\n| South |  | B2 |",
    );
  });

  test("names of parts are the same in any case, and with backslashes", async () => {
    const parts = {
      "[Content_Types].xml": strToU8("<Types/>"),
      "XL\\Workbook.xml": strToU8('<workbook><sheets><sheet name="One" r:id="r0"/></sheets></workbook>'),
      "xl\\_rels\\workbook.xml.rels": relations(["worksheet", "worksheets\\sheet1.xml"]),
    };
    const sheet = strToU8('<worksheet><row><c t="inlineStr"><is><t>Rope</t></is></c></row></worksheet>');
    const bytes = zipSync({ ...parts, "xl/Worksheets/SHEET1.xml": sheet });
    expect(await text(bytes, XLSX)).toBe("One\n\nRope");
  });

  test("a missing part is no empty one", async () => {
    const parts = {
      "[Content_Types].xml": strToU8("<Types/>"),
      "xl/workbook.xml": strToU8('<workbook><sheets><sheet name="One" r:id="r0"/></sheets></workbook>'),
      "xl/_rels/workbook.xml.rels": relations(["worksheet", "worksheets/sheet1.xml"]),
    };
    await expect(text(zipSync(parts), XLSX)).rejects.toThrow("its part xl/worksheets/sheet1.xml is missing");
  });

  test("slides have titles and tables, and hidden ones are not read", async () => {
    const shape = (type: string, text: string) =>
      `<p:sp><p:nvPr><p:ph type="${type}"/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const cell = (text: string) =>
      `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
    const row = (...cells: string[]) => `<a:tr>${cells.map(cell).join("")}</a:tr>`;
    const table = `<a:tbl>${row("Pier", "Ships")}${row("", "12")}</a:tbl>`;
    const slides = {
      "ppt/slide1.xml": `<p:sld>${shape("title", "Traffic")}${table}</p:sld>`,
      "ppt/slide2.xml": `<p:sld show="0">${shape("body", "Draft")}</p:sld>`,
    };
    const list = '<p:presentation><p:sldId r:id="r0"/><p:sldId r:id="r1"/></p:presentation>';
    const bytes = office("ppt/presentation.xml", list, {
      "ppt/_rels/presentation.xml.rels": relations(["slide", "slide1.xml"], ["slide", "slide2.xml"]),
      ...Object.fromEntries(Object.entries(slides).map(([name, xml]) => [name, strToU8(xml)])),
    });
    expect(await text(bytes, PPTX)).toBe("# Traffic\n\n| Pier | Ships |\n| --- | --- |\n|  | 12 |\f");
  });

  test("a workbook names its parts and prefixes as it likes", async () => {
    const bytes = office(
      "xl/Book.xml",
      '<x:workbook><x:sheets><x:sheet name="One" d3:id="r0"/></x:sheets></x:workbook>',
      {
        "xl/_rels/Book.xml.rels": relations(
          ["worksheet", "/xl/First.xml"],
          ["sharedStrings", "SharedStrings.xml"],
        ),
        "xl/First.xml": strToU8('<worksheet><row><c t="s"><v>0</v></c></row></worksheet>'),
        "xl/SharedStrings.xml": strToU8("<sst><si><t>Shared</t></si></sst>"),
      },
    );
    expect(await text(bytes, XLSX)).toBe("One\n\nShared");
  });
});

describe("what cannot be read says why", () => {
  const docx = (parts: Zippable) => zipSync({ "word/document.xml": strToU8("<w:document/>"), ...parts });
  const cut = (bytes: Uint8Array) => bytes.slice(0, Math.floor(bytes.length / 2));
  const long = "<w:document><w:t>".padEnd(2_000_000, "long ");
  const docxOfLong = docx({ "word/document.xml": strToU8(long) });
  /** The file with that long part, said to unpack to so many bytes. */
  const declaring = (unpacked: number) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(long.length);
    const lie = Buffer.from(docxOfLong);
    for (let at = lie.indexOf(size); at >= 0; at = lie.indexOf(size, at + 1)) lie.writeUInt32LE(unpacked, at);
    return lie;
  };
  const entities =
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><w:document><w:t>&b;</w:t></w:document>';

  test.each<[string, () => Uint8Array, string, RegExp]>([
    ["a presentation as Word document", () => fixture("festival.pptx"), DOCX, /^is not a Word document/],
    ["an archive cut off", () => cut(fixture("manual.docx")), DOCX, /^is damaged or incomplete$/],
    ["a zip bomb", () => declaring(250_000_000), DOCX, /^is larger than 200000000 bytes when decompressed$/],
    ["entities", () => docx({ "word/document.xml": strToU8(entities) }), DOCX, /declares a document type/],
    [
      "elements within elements",
      () => docx({ "word/document.xml": strToU8("<a>".repeat(100_000)) }),
      DOCX,
      /nested too deep/,
    ],
  ])("%s", (_what, make, type, reason) => expect(parseOffice(make(), type)).rejects.toThrow(reason));

  test("an archive that lies about its sizes is cut off there", async () => {
    expect(unzipSync(docxOfLong)["word/document.xml"]).toHaveLength(long.length);
    const read = await text(declaring(1000), DOCX).catch((err: Error) => err.message);
    expect(read.length).toBeLessThanOrEqual(1000);
  });
});
