import { describe, expect, test } from "@jest/globals";
import { strToU8 } from "fflate";
import { Losses } from "../../../../services/remember/documents/parsers/page.ts";
import { DOCX, parseOffice, wordFile, wordParagraph, wordRun } from "../office-files.ts";

const read = async (bytes: Uint8Array) => (await parseOffice(bytes, DOCX)).map(({ text }) => text).join("\f");
const p = wordParagraph;
const field = (settings: string, result = "") =>
  `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${settings}</w:ffData></w:fldChar></w:r><w:r><w:instrText> FORM </w:instrText></w:r>` +
  `${result && `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${result}`}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
const sym = (font: string, char: string) => `<w:r><w:sym w:font="${font}" w:char="${char}"/></w:r>`;
const inFont = (font: string, text: string) =>
  `<w:r><w:rPr><w:rFonts w:ascii="${font}"/></w:rPr><w:t>${text}</w:t></w:r>`;
const control = (settings: string, content: string) =>
  `<w:sdt><w:sdtPr>${settings}</w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`;
const box = (value: string) =>
  `<w14:checkbox><w14:checked w14:val="${value}"/><w14:checkedState w14:val="2612"/></w14:checkbox>`;

test.each<[string, string, string]>([
  ["a ticked box of Wingdings", sym("Wingdings", "F0FE"), "☑"],
  ["a crossed box of Wingdings 2", sym("Wingdings 2", "F054"), "☒"],
  ["an empty box without the private range", sym("Wingdings", "A8"), "☐"],
  ["a character of a run in Symbol", `${wordRun("7 ")}${inFont("Symbol", "\uf06d")}${wordRun("g")}`, "7 μg"],
  ["a letter of a run in Wingdings", inFont("Wingdings", "o"), "☐"],
  ["a letter of a run in a font of letters", inFont("Arial", "o"), "o"],
  ["a ticked field", field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>'), "☒"],
  ["a field ticked by default", field('<w:checkBox><w:default w:val="1"/></w:checkBox>'), "☒"],
  [
    "a field that was cleared",
    field('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'),
    "☐",
  ],
  [
    "the chosen entry of a list",
    field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="sea"/><w:listEntry w:val="rail"/></w:ddList>'),
    "rail",
  ],
  [
    "a list that has its text",
    field('<w:ddList><w:listEntry w:val="sea"/></w:ddList>', wordRun("sea")),
    "sea",
  ],
  ["a field of text", field("<w:textInput/>", wordRun("Lindau")), "Lindau"],
  ["a ticked control", control(box("1"), sym("Wingdings", "F0A4")), "☒"],
  ["an empty control", control(box("0"), wordRun("•")), "☐"],
  ["a control without a sign", control(box("1"), ""), "☒"],
  ["the text of another control", control("<w:dropDownList/>", wordRun("by air")), "by air"],
])("forms of a Word document: %s", async (_what, xml, expected) =>
  expect(await read(wordFile(p(xml, wordRun(" Crane"))))).toBe(`${expected} Crane`),
);

const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const e = (xml: string, name = "e") => `<m:${name}>${xml}</m:${name}>`;
const fraction = (over: string, under: string) => `<m:f>${e(over, "num")}${e(under, "den")}</m:f>`;
const power = (base: string, to: string) => `<m:sSup>${e(base)}${e(to, "sup")}</m:sSup>`;
const root = (xml: string, degree = "") =>
  `<m:rad><m:radPr>${degree ? "" : '<m:degHide m:val="1"/>'}</m:radPr>${e(degree, "deg")}${e(xml)}</m:rad>`;

describe("formulas of a Word document", () => {
  test.each<[string, string, string]>([
    ["a fraction", fraction(r("load"), r("8")), "(load)/(8)"],
    ["a fraction of a sum", fraction(`<m:d>${e(r("a+b"))}</m:d>`, r("2")), "(a+b)/(2)"],
    [
      "a binomial",
      `<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>${e(r("n"), "num")}${e(r("k"), "den")}</m:f>`,
      "(n)¦(k)",
    ],
    ["a power", power(r("v"), r("3")), "v^3"],
    ["a power of sums", power(r("x+1"), r("n-1")), "(x+1)^(n-1)"],
    ["an index", `<m:sSubSup>${e(r("x"))}${e(r("i"), "sub")}${e(r("2"), "sup")}</m:sSubSup>`, "x_i^2"],
    ["a root", root(r("49")), "√49"],
    ["a root of a fraction", root(fraction(r("a"), r("b"))), "√((a)/(b))"],
    ["a cube root", root(r("x+y"), r("3")), "∛(x+y)"],
    [
      "a sum",
      `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>${e(r("i=1"), "sub")}${e(r("n"), "sup")}${e(r("i"))}</m:nary>`,
      "∑_(i=1)^n i",
    ],
    ["an integral", `<m:nary>${e("", "sub")}${e("", "sup")}${e(r("f"))}</m:nary>`, "∫ f"],
    ["a function", `<m:func>${e(r("sin"), "fName")}${e(r("x"))}</m:func>`, "sin(x)"],
    ["a limit", `<m:limLow>${e(r("lim"))}${e(r("x→0"), "lim")}</m:limLow>`, "lim_(x→0)"],
    [
      "a matrix",
      `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>${e(
        `<m:m><m:mr>${e(r("1"))}${e(r("0"))}</m:mr><m:mr>${e(r("0"))}${e(r("1"))}</m:mr></m:m>`,
      )}</m:d>`,
      "[1, 0; 0, 1]",
    ],
    ["letters in a separate style", r("𝐸=𝑚"), "E=m"],
  ])("%s", async (_what, xml, expected) => {
    const bytes = wordFile(p(wordRun("Use "), `<m:oMath>${xml}</m:oMath>`, wordRun(" here")));
    expect(await read(bytes)).toBe(`Use ${expected} here`);
  });

  test("lines of formulas stay lines", async () => {
    const lines = `<m:oMathPara><m:oMath>${r("a=1")}</m:oMath><m:oMath>${r("b=2")}</m:oMath></m:oMathPara>`;
    expect(await read(wordFile(p(lines)))).toBe("a=1\nb=2");
  });
});

const around = `${p(wordRun("Before"))}<w:altChunk r:id="r0"/>${p(wordRun("After"))}`;
const within = wordFile(p(wordRun("The inner text")));
test.each<[string, string, string | Uint8Array, string]>([
  ["HTML", "part.html", "<h2>Fees</h2><p>Five <b>euro</b></p>", "## Fees\n\nFive euro"],
  ["text", "part.txt", "Five euro", "Five euro"],
  [
    "a web archive",
    "part.mht",
    'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset="utf-8"\r\n' +
      "Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>F=C3=BCnf eu=\r\nro</p>\r\n--b--\r\n",
    "Fünf euro",
  ],
  ["another Word document", "part.docx", within, "The inner text"],
])("%s is read at its place within a Word document", async (_what, name, content, expected) => {
  const bytes = typeof content === "string" ? strToU8(content) : content;
  const file = wordFile(around, [["aFChunk", name]], { [`word/${name}`]: bytes });
  expect(await read(file)).toBe(`Before\n\n${expected}\n\nAfter`);
});

describe("what is not read of a Word document", () => {
  const picture = '<w:r><w:drawing><pic:pic><a:blip r:embed="r9"/></pic:pic></w:drawing></w:r>';
  const described = '<w:r><w:drawing><wp:docPr descr="The quay"/><a:blip r:embed="r9"/></w:drawing></w:r>';
  const embedded =
    '<w:r><w:object><v:shape><v:imagedata r:id="r9"/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/></w:object></w:r>';

  test("is listed by kind and place", async () => {
    const losses = new Losses();
    const file = wordFile(
      `${p(wordRun("Body"), picture, picture, described, embedded)}<w:altChunk r:id="r0"/>`,
      [
        ["aFChunk", "part.rtf"],
        ["header", "header1.xml"],
        ["newKind", "new.xml"],
      ],
      {
        "word/part.rtf": "{\\rtf1 Five}",
        "word/header1.xml": `<w:hdr>${p(picture)}</w:hdr>`,
        "word/new.xml": "<new/>",
      },
    );
    await parseOffice(file, DOCX, losses);
    expect(losses.list()).toEqual([
      { kind: "part newKind", place: "text", count: 1 },
      { kind: "chunk", place: "text", count: 1 },
      { kind: "picture", place: "text", count: 2 },
      { kind: "embedded object", place: "text", count: 1 },
      { kind: "picture", place: "header", count: 1 },
    ]);
  });

  test("is named if there is nothing else", async () => {
    const file = wordFile('<w:altChunk r:id="r0"/>', [["aFChunk", "part.rtf"]], {
      "word/part.rtf": "{\\rtf1 Five}",
    });
    await expect(read(file)).rejects.toThrow("and neither are: 1 chunk (text)");
  });

  test("a file within itself too often is not read", async () => {
    const around = (bytes: Uint8Array) =>
      wordFile('<w:altChunk r:id="r0"/>', [["aFChunk", "in.docx"]], { "word/in.docx": bytes });
    let file = wordFile(p(wordRun("Deep")));
    for (let at = 0; at < 3; at++) file = around(file);
    expect(await read(file)).toBe("Deep");
    await expect(read(around(file))).rejects.toThrow("chunk (text)");
  });
});

describe("what a Word document shows", () => {
  const drawing = (graphic: string, description = "") =>
    `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" ${description}/>${graphic}</wp:inline></w:drawing></w:r>`;
  const picture = '<pic:pic><pic:blipFill><a:blip r:embed="r9"/></pic:blipFill></pic:pic>';

  test("descriptions of pictures stand after their paragraph", async () => {
    const xml = p(drawing(picture, 'descr="The crane in winter"'), wordRun("Figure 1"));
    expect(await read(wordFile(xml + p(wordRun("Next"))))).toBe("Figure 1\n\nThe crane in winter\n\nNext");
  });

  test("a drawing at the beginning of a heading leaves it a heading", async () => {
    const inBox = `<w:txbxContent>${p(wordRun("Boxed"))}</w:txbxContent>`;
    const heading = `<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>${drawing(inBox)}${wordRun("Cranes")}</w:p>`;
    expect(await read(wordFile(heading))).toBe("## Cranes\n\nBoxed");
  });

  test("only one version of a drawing is read", async () => {
    const version = (name: string, text: string) =>
      `<mc:${name}>${drawing(`<w:txbxContent>${p(wordRun(text))}</w:txbxContent>`)}</mc:${name}>`;
    const both = `<mc:AlternateContent>${version("Choice", "new")}${version("Fallback", "old")}</mc:AlternateContent>`;
    const older = `<mc:AlternateContent>${version("Fallback", "only")}</mc:AlternateContent>`;
    expect(await read(wordFile(p(both) + p(older)))).toBe("new\n\nonly");
  });

  test("words drawn behind a page are read", async () => {
    const header = `<w:hdr>${p('<w:r><w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict></w:r>')}</w:hdr>`;
    const file = wordFile(p(wordRun("Body")), [["header", "header1.xml"]], { "word/header1.xml": header });
    expect(await read(file)).toBe("Body\n\nDRAFT");
  });

  test("a chart has its titles and values", async () => {
    const points = (...values: (string | number)[]) =>
      values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join("");
    const series = (name: string, ...values: number[]) =>
      `<c:ser><c:tx><c:strRef><c:f>S!$B$1</c:f><c:strCache>${points(name)}</c:strCache></c:strRef></c:tx>` +
      `<c:cat><c:strRef><c:strCache>${points("01", "02")}</c:strCache></c:strRef></c:cat>` +
      `<c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode>${points(...values)}</c:numCache></c:numRef></c:val></c:ser>`;
    const title =
      "<c:title><c:tx><c:rich><a:p><a:r><a:t>Load of </a:t></a:r><a:r><a:t>cranes</a:t></a:r></a:p></c:rich></c:tx></c:title>";
    const chart = `<c:chartSpace>${title}${series("North", 0.25, 0.5)}${series("South", 0.75, 1)}</c:chartSpace>`;
    const file = wordFile(p(drawing('<c:chart r:id="r0"/>')), [["chart", "chart1.xml"]], {
      "word/chart1.xml": chart,
    });
    expect(await read(file)).toBe(
      "Load of cranes\n\n|  | North | South |\n| --- | --- | --- |\n| 01 | 25% | 75% |\n| 02 | 50% | 100% |",
    );
  });

  test("a newer chart has its titles and values", async () => {
    const chart =
      '<cx:chartSpace><cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">Steel</cx:pt></cx:lvl></cx:strDim>' +
      '<cx:numDim type="val"><cx:lvl formatCode="0.0"><cx:pt idx="0">7.25</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>' +
      "<cx:chart><cx:title><cx:tx><cx:txData><cx:v>Cargo</cx:v></cx:txData></cx:tx></cx:title><cx:series>" +
      '<cx:tx><cx:txData><cx:v>Tons</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:chart></cx:chartSpace>';
    const file = wordFile(p(drawing('<cx:chart r:id="r0"/>')), [["chartEx", "chart1.xml"]], {
      "word/chart1.xml": chart,
    });
    expect(await read(file)).toBe("Cargo\n\n|  | Tons |\n| --- | --- |\n| Steel | 7.3 (7.25) |");
  });

  test("a diagram is the list that it draws", async () => {
    const point = (id: string, text: string, type = "node") =>
      `<dgm:pt modelId="${id}" type="${type}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
    const under = (from: string, to: string, order: number) =>
      `<dgm:cxn srcId="${from}" destId="${to}" srcOrd="${order}"/>`;
    const data =
      `<dgm:dataModel><dgm:ptLst>${point("0", "", "doc")}${point("b", "Unload")}${point("a", "Berth")}${point("c", "Moor")}` +
      `${point("x", "drawn twice", "pres")}</dgm:ptLst><dgm:cxnLst>${under("0", "b", 1)}${under("0", "a", 0)}${under("a", "c", 0)}` +
      "</dgm:cxnLst></dgm:dataModel>";
    const file = wordFile(p(drawing('<dgm:relIds r:dm="r0"/>')), [["diagramData", "data1.xml"]], {
      "word/data1.xml": data,
    });
    expect(await read(file)).toBe("- Berth\n  - Moor\n- Unload");
  });
});
