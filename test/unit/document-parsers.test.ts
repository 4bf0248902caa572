import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Losses } from "../../services/remember/documents/parsers/page.ts";
import { parseDocument } from "../../services/remember/documents/parsers/parse.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument.";
const strToU8 = (text: string) => new TextEncoder().encode(text);
const PDF = "application/pdf";
const DOCX = `${OFFICE}wordprocessingml.document`;
const XLSX = `${OFFICE}spreadsheetml.sheet`;

const fixture = (name: string) =>
  new Uint8Array(readFileSync(join(import.meta.dirname, "../fixtures/documents", name)));
const text = async (bytes: Uint8Array, type: string) =>
  (await parseDocument(bytes, type)).map((page) => page.text).join("\f");

test("a page of LibreOffice is read whole", async () => {
  const read = (await text(fixture("manual.html"), "text/html")).replace(/\s+/g, " ");
  const facts = [
    ...["Operating manual of the Lindau pump station", "four full turns & check that the"],
    "pressure gauge reads < 2 bar",
    ...["Zwei Pumpen, grün lackiert, stehen im Keller; the naïve operator calls them", "“Max” and “Moritz”"],
    ...["Frau Özdemir, extension 4711", "The footnote says that the generator burns rapeseed oil."],
  ];
  for (const fact of facts) expect(read).toContain(fact);
  expect(read).not.toContain("font-family");
});

const latin1 = (given: string) => new Uint8Array(Buffer.from(given, "latin1"));

describe("text", () => {
  const GERMAN =
    "Die Größe der Straße überrascht natürlich jeden, der dort früher wohnte. Schöne Grüße aus Köln.";
  test.each<[string, Uint8Array, string]>([
    ["UTF-8", strToU8("Grüße – 東京\r\nzwei"), "Grüße – 東京\nzwei"],
    ["UTF-8 with a mark", strToU8("\ufeffGrüße"), "Grüße"],
    ["UTF-16", new Uint8Array(Buffer.from("\ufeffGrüße 東京", "utf16le")), "Grüße 東京"],
    ["Latin-1", latin1(GERMAN), GERMAN],
    ["ISO 2022-JP", latin1("Re: \u001b$B2q5D\u001b(B"), "Re: 会議"],
    ["ASCII that mentions pictures", strToU8("GIF89a is a format."), "GIF89a is a format."],
    ["ASCII that mentions PDFs", strToU8("Files begin with\n%PDF-1.4"), "Files begin with\n%PDF-1.4"],
  ])("in %s", async (_name, bytes, expected) => expect(await text(bytes, "text/plain")).toBe(expected));

  test("Markdown stays as it was written", async () =>
    expect(await text(strToU8("# Title\n\n* one\n* two\n"), "text/markdown")).toBe(
      "# Title\n\n* one\n* two",
    ));

  test("HTML is what a reader sees", async () => {
    const html = `<!doctype html><html><head><title>Pumps</title><style>p{color:red}</style></head><body>
      <script>alert("no")</script><h1>Start &amp; stop</h1><p>Open  the
      valve.<br>Wait.</p><ul><li>one<li>two</ul><pre>a  b\n c</pre><table><tr><td>1<td>2</table></body>`;
    expect(await text(strToU8(html), "text/html")).toBe(
      "Pumps\n\n# Start & stop\n\nOpen the valve.\nWait.\n\n- one\n- two\n\na  b\n c\n\n| 1 | 2 |\n| --- | --- |",
    );
  });

  test.each<[string, string, string]>([
    ["elements outside lines", "<summary>Fees</summary>Free<dialog open>Now</dialog>", "Fees\nFree\n\nNow"],
    ["controls", "<button>Save</button><button>Send</button> H<sub>2</sub>O", "Save Send H2O"],
    ["a block by its style", 'a<span style="display:block">b</span>c', "a\nb\nc"],
    [
      "hidden text",
      'Seen<p hidden>1</p><p style="color:red;DISPLAY:none">2</p><b aria-hidden="true">3<br>4</b><i>!</i>',
      "Seen!",
    ],
    ["readings of a word", "<ruby>港<rp>(</rp><rt>minato</rt><rp>)</rp></ruby>へ", "港(minato)へ"],
    [
      "readings of each character of a word",
      "<p><ruby>電<rt>でん</rt></ruby><ruby>車<rt>しゃ</rt></ruby>で<ruby>行<rt>い</rt></ruby>く <ruby>駅<rt>えき</rt></ruby>" +
        " <ruby>前<rt>まえ</rt></ruby></p><p><ruby>門<rt>もん</rt></ruby></p>",
      "電車(でんしゃ)で行(い)く 駅(えき) 前(まえ)\n\n門(もん)",
    ],
    ["levels", "<h3>Steps</h3><ol start=4><li>a<ul><li>b</ul><li>c</ol>", "### Steps\n\n4. a\n  - b\n5. c"],
    [
      "columns behind merged and empty cells",
      "<table><tr><th>A<th>B<th>C<tr><td rowspan=2>1<td><td>2<tr><td colspan=2>3</table>",
      "| A | B | C |\n| --- | --- | --- |\n| 1 |  | 2 |\n|  | 3 |  |",
    ],
    [
      "spaces of all kinds",
      "<p>Pier&nbsp;<b>4</b>&ensp;opens&nbsp;at&#8239;<i>six</i>\u3000sharp</p><p>&nbsp;</p>Crane&emsp;<u>B</u>&amp;<u>C</u>",
      "Pier 4 opens at six sharp\n\nCrane B&C",
    ],
    [
      "formulas",
      "Area <math><mfrac><mi>load</mi><mn>12</mn></mfrac></math>, <math><msup><mi>r</mi><mn>2</mn></msup><mi>h</mi>" +
        "<mo>=</mo><msqrt><mn>49</mn></msqrt></math>; " +
        '<math display="block"><semantics><mrow><msubsup><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></msubsup>' +
        "<msub><mi>𝑥</mi><mi>i</mi></msub><mo>+</mo><mroot><mrow><mi>a</mi><mo>-</mo><mn>1</mn></mrow><mn>3</mn></mroot></mrow>" +
        '<annotation encoding="application/x-tex">\\sum</annotation></semantics></math>in <math><mtext>net cost</mtext>' +
        "<mo>(</mo><mi>f</mi><mo>&#x2061;</mo><mspace/><msup><mi>x</mi><mo>′</mo></msup><mo>)</mo></math>",
      "Area (load)/(12), r^2 h=√49;\n∑_(i=1)^n x_i+∛(a-1)\nin net cost(f x′)",
    ],
    ["soft hyphens and zero width", "Hafen&shy;meis&shy;terei K\u200bran", "Hafenmeisterei Kran"],
    ["an embedded file", `<img alt="The quay" src="data:image/png;base64,${"A".repeat(99)}">!`, "The quay !"],
  ])("HTML with %s", async (_name, html, expected) =>
    expect(await text(strToU8(html), "text/html")).toBe(expected),
  );

  test("without files that are embedded as data URIs, and with what stands around them", async () => {
    const uri = `data:image/png;base64,${"iVBORw0KGgo".repeat(2000)}==`;
    expect(await text(strToU8(`See ![the quay](${uri}) and data: below.`), "text/markdown")).toBe(
      "See ![the quay]() and data: below.",
    );
  });

  test("control characters divide words", async () =>
    expect(await text(strToU8("north\u000bpier\u0007west\ttide"), "text/plain")).toBe(
      "north pier west\ttide",
    ));

  test("media types have parameters", async () => {
    const bytes = latin1("\u00b1\u00e6");
    expect(await text(bytes, 'text/plain; charset="ISO-8859-2"')).toBe("ąć");
    expect(await text(bytes, "text/plain; charset=klingon")).toBe("±æ");
  });

  test("HTML in the encoding that it names", async () => {
    const html = '<html><head><meta charset="iso-8859-2"></head><body>\u00b1\u00e6</body></html>';
    expect(await text(latin1(html), "text/html")).toBe("ąć");
  });

  test("as HTML declares it after long scripts, or in its XML declaration", async () => {
    const late = `<html><head><script>${"x();".repeat(2000)}</script><meta charset="iso-8859-2"></head><p>\u00b1\u00e6</p></html>`;
    const xml = '<?xml version="1.0" encoding="iso-8859-2"?><html><body><p>\u00b1\u00e6</p></body></html>';
    for (const html of [late, xml])
      expect(await text(Buffer.from(html, "latin1"), "text/html")).toContain("ąć");
  });
});

describe("what is not read", () => {
  const lossesOf = async (bytes: Uint8Array, type: string) => {
    const losses = new Losses();
    await parseDocument(bytes, type, losses);
    return `${losses}`;
  };

  test("of a page is listed, but for what means nothing or is hidden", async () => {
    const html =
      '<p>Quay<img src="a"><img alt=""><svg><svg/></svg><div hidden><img><video></video></div><video><img></video>';
    expect(await lossesOf(strToU8(html), "text/html")).toBe("2 picture (text), 1 video (text)");
  });

  test("a guessed encoding is said, a declared one is not", async () => {
    const text = latin1("Die Größe der Straße überrascht jeden, der früher dort wohnte. Schöne Grüße.");
    expect(await lossesOf(text, "text/plain")).toMatch(/^1 encoding guessed \((?:iso|windows)-/);
    expect(await lossesOf(text, "text/plain; charset=windows-1252")).toBe("");
  });

  test("is counted together where it is too much to list", () => {
    const losses = new Losses();
    for (let at = 0; at < 300; at++) losses.add("picture", `slide ${at}`);
    losses.add("picture", "slide 0");
    const listed = losses.list();
    expect([listed.length, listed[0], listed.at(-1)]).toEqual([
      101,
      { kind: "picture", place: "slide 0", count: 2 },
      { kind: "other", place: "elsewhere", count: 200 },
    ]);
  });
});

describe("what cannot be read says why", () => {
  test.each<[string, () => Uint8Array, string, RegExp]>([
    ["an empty file", () => new Uint8Array(), "text/plain", /^is empty$/],
    ["white space", () => strToU8(" \n\t "), "text/plain", /^contains no text/],
    [
      "a presentation as PDF",
      () => fixture("festival.pptx"),
      PDF,
      /^was declared as a PDF, but seems to be a ZIP archive$/,
    ],
    [
      "what an extension reads that is not there",
      () => fixture("manual.docx"),
      DOCX,
      /^is a Word document, which no extension of this server reads$/,
    ],
    [
      "a PDF without an extension",
      () => fixture("manual.pdf"),
      PDF,
      /^is a PDF, which no extension of this server reads$/,
    ],
    [
      "PDF as text",
      () => fixture("manual.pdf"),
      "text/plain",
      /^was declared as text, but seems to be a PDF$/,
    ],
    ["RTF as text", () => strToU8("{\\rtf1\\ansi Hello}"), "text/plain", /seems to be RTF$/],
    ["text as workbook", () => strToU8("a,b"), XLSX, /^was declared as a workbook, but seems to be text$/],
    ["a picture", () => new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), "text/plain", /a picture/],
    ["another as text", () => strToU8("GIF89a\u0001\0\u0001\0"), "text/plain", /a picture/],
    ["bytes as text", () => new Uint8Array([1, 0, 2, 0, 3]), "text/plain", /binary data/],
    ["text with a zero byte", () => strToU8("The keeper\0 of the pier."), "text/plain", /binary data/],
    [
      "an encrypted Office file",
      () => new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0]),
      DOCX,
      /encrypted or older Office file/,
    ],
    ["too much text", () => new Uint8Array(10_000_001).fill(97), "text/plain", /the limit is 10000000/],
    [
      "too much text of HTML",
      () => strToU8(`<p>${"a".repeat(10_000_001)}</p>`),
      "text/html",
      /the limit is 10000000/,
    ],
    ["another type", () => strToU8("x"), "image/png", /which is not supported/],
  ])("%s", (_what, make, type, reason) => expect(parseDocument(make(), type)).rejects.toThrow(reason));
});
