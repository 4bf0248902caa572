import { describe, expect, test } from "@jest/globals";
import { Losses } from "../../../../services/remember/documents/parsers/page.ts";
import { parseOffice, sheetFile, slideShape, XLSX } from "../office-files.ts";

const read = async (bytes: Uint8Array) => (await parseOffice(bytes, XLSX)).map(({ text }) => text).join("\f");
const escaped = (code: string) => code.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** The styles of one format, by its code or its number. */
const styles = (format: string | number) =>
  typeof format === "number"
    ? `<styleSheet><cellXfs><xf numFmtId="${format}"/></cellXfs></styleSheet>`
    : `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="${escaped(format)}"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>`;
const cell = (xml: string, attributes = "") => `<row><c s="0" ${attributes}>${xml}</c></row>`;

describe("a cell is what the sheet shows", () => {
  test.each<[string | number, string, string]>([
    ["General", "3.3000000000000003", "3.3"],
    ["General", "4006381333931", "4006381333931"],
    ["0.0%", "0.075", "7.5%"],
    ["0%", "0.075", "8% (0.075)"],
    ["00000", "742", "00742"],
    ["#,##0.00\\ [$€-407]", "1234.5", "1,234.50 €"],
    ['_-* #,##0.00\\ "CHF"_-', "-80", "- 80.00 CHF"],
    ["0.00", "2.71828", "2.72"],
    ["0", "2.71828", "3 (2.71828)"],
    ['0.0,,"M"', "48200000", "48.2M (48200000)"],
    ['"open";;"closed"', "1", "open (1)"],
    ['0" m2"', "12", "12 m2"],
    ["0.00E+00", "48200", "4.82E+04 (48200)"],
    ["# ?/?", "2.5", "2 1/2 (2.5)"],
    ["not [a format", "5", "5"],
    // Dates. Languages show the built-in ones differently.
    ...([14, 27, 30, 36, 50, 58] as const).map((id): [number, string, string] => [id, "45672", "2025-01-15"]),
    [22, "45672.25", "2025-01-15 06:00"],
    [17, "45672", "Jan-25 (2025-01-15)"],
    [20, "0.25", "6:00"],
    [45, "0.0625", "30:00 (1:30:00)"],
    [46, "1.25", "30:00:00"],
    ["[h]:mm", "2.0625", "49:30"],
    ["h:mm", "1.0625", "1:30 (25:30:00)"],
    ["mmmm", "45672", "January (2025-01-15)"],
    ["dd/mm/yyyy", "45672", "15/01/2025 (2025-01-15)"],
    ["yyyy-mm-dd", "45672", "2025-01-15"],
    ["yyyy\\-mm\\-dd\\ hh:mm:ss", "45672.25020833333", "2025-01-15 06:00:18"],
    ['yyyy"年"m"月"d"日"', "45672", "2025年1月15日 (2025-01-15)"],
    ["[$-407]d. mmmm yyyy", "45672", "15. Januar 2025 (2025-01-15)"],
    ["[Red]0;[Blue]-0", "4", "4"],
    ["yyyy-mm-dd", "-4", "-4"],
    ["yyyy-mm-dd", "1e9", "1000000000"],
  ])("%s of %s", async (format, value, expected) =>
    expect(await read(sheetFile(cell(`<v>${value}</v>`), { styles: styles(format) }))).toBe(
      `S\n\n${expected}`,
    ),
  );

  test("a text with a format for texts", async () => {
    const xml = cell("<is><t>17b</t></is>", 't="inlineStr"');
    expect(await read(sheetFile(xml, { styles: styles('"No. "@') }))).toBe("S\n\nNo. 17b");
  });

  test("days count from 1904 if the workbook says so, whatever its extensions repeat", async () => {
    const workbook = '<workbookPr date1904="1"/><extLst><x14:workbookPr defaultImageDpi="1"/></extLst>';
    expect(await read(sheetFile(cell("<v>0.25</v>"), { styles: styles(20), workbook }))).toBe("S\n\n6:00");
    expect(await read(sheetFile(cell("<v>44210</v>"), { styles: styles(14), workbook }))).toBe(
      "S\n\n2025-01-15",
    );
  });
});

describe("what a sheet shows around its cells", () => {
  const row = cell("<is><t>Rope</t></is>", 't="inlineStr"');

  test("notes and threads of comments, each once", async () => {
    const notes =
      "<comments><authors><author>Ada</author><author>tc={1}</author></authors><commentList>" +
      '<comment ref="A1" authorId="0"><text><r><t>Ada:</t></r><r><t xml:space="preserve"> of hemp</t></r></text></comment>' +
      '<comment ref="A1" authorId="1"><text><t>[Threaded comment] How long?</t></text></comment></commentList></comments>';
    const threads =
      '<ThreadedComments><threadedComment ref="A1" personId="{P}" id="{1}"><text>How long?</text></threadedComment></ThreadedComments>';
    const file = sheetFile(row, {
      related: [
        ["comments", "comments1.xml"],
        ["threadedComment", "threads1.xml"],
      ],
      parts: {
        "xl/comments1.xml": notes,
        "xl/threads1.xml": threads,
        "xl/persons.xml": '<personList><person displayName="Bo" id="{P}"/></personList>',
      },
    });
    expect(await read(file)).toBe(
      "S\n\nRope\n\nComment on A1 (Bo): How long?\n\nComment on A1: Ada: of hemp",
    );
  });

  test("text boxes, and form controls with their state", async () => {
    const control = (kind: string, label: string, checked = "") =>
      `<v:shape><v:textbox><div><font>${label}</font></div></v:textbox><x:ClientData ObjectType="${kind}">${checked}</x:ClientData></v:shape>`;
    const controls =
      control("Checkbox", "Insured", "<x:Checked>1</x:Checked>") +
      control("Checkbox", "Frozen") +
      control("Note", "Rope");
    const file = sheetFile(row, {
      related: [
        ["drawing", "drawing1.xml"],
        ["vmlDrawing", "vml1.vml"],
      ],
      parts: {
        "xl/drawing1.xml": `<xdr:wsDr>${slideShape("Count twice")}</xdr:wsDr>`,
        "xl/vml1.vml": `<xml>${controls}</xml>`,
      },
    });
    expect(await read(file)).toBe("S\n\nRope\n\nCount twice\n\n☒ Insured\n☐ Frozen");
  });

  test("texts around printed pages, without their counts", async () => {
    const printed =
      '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Stock R&amp;&amp;D&amp;RMay</oddHeader><oddFooter>Page &amp;P of &amp;N</oddFooter></headerFooter>';
    expect(await read(sheetFile(row + printed))).toBe("S\n\nRope\n\nStock R&D\nMay");
  });
});

test("what is not read of a workbook is listed", async () => {
  const losses = new Losses();
  const rows = `<row><c t="inlineStr"><is><t>Rope</t></is></c><c><f>A1</f><v/></c><c t="e" vm="1"><v>#VALUE!</v></c></row>`;
  const file = sheetFile(rows, {
    related: [
      ["oleObject", "ole1.bin"],
      ["slicer", "slicer1.xml"],
    ],
    parts: { "xl/ole1.bin": new Uint8Array(2) },
  });
  await parseOffice(file, XLSX, losses);
  expect(losses.list()).toEqual([
    { kind: "formula", place: "S", count: 1 },
    { kind: "picture", place: "S", count: 1 },
    { kind: "part slicer", place: "S", count: 1 },
    { kind: "embedded object", place: "S", count: 1 },
  ]);
});
