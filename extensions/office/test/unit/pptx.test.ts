import { describe, expect, test } from "@jest/globals";
import { Losses } from "../../../../services/remember/documents/parsers/page.ts";
import { type OfficeParts, officeFile, PPTX, parseOffice, slideFile, slideShape } from "../office-files.ts";

const read = async (bytes: Uint8Array) => (await parseOffice(bytes, PPTX)).map(({ text }) => text).join("\f");

describe("what a slide shows", () => {
  test.each<[string, string, string]>([
    [
      "a formula",
      slideShape(
        "</a:t></a:r><a14:m><m:oMath><m:f><m:num><m:r><m:t>t</m:t></m:r></m:num><m:den><m:r><m:t>12</m:t></m:r></m:den></m:f></m:oMath></a14:m><a:r><a:t>",
      ),
      "(t)/(12)",
    ],
    [
      "a sign of Wingdings",
      '<p:sp><p:txBody><a:p><a:r><a:rPr><a:latin typeface="Wingdings"/></a:rPr><a:t>\u00fe</a:t></a:r><a:r><a:t> ready</a:t></a:r></a:p></p:txBody></p:sp>',
      "☑ ready",
    ],
    [
      "the description of a picture",
      '<p:pic><p:nvPicPr><p:cNvPr id="2" name="p" descr="The quay at low tide"/></p:nvPicPr><p:blipFill><a:blip r:embed="r5"/></p:blipFill></p:pic>',
      "The quay at low tide",
    ],
    [
      "no hidden shape",
      slideShape("Shown") + slideShape("Hidden", 'hidden="1"') + slideShape("Too"),
      "Shown\n\nToo",
    ],
    [
      "a field that a sheet fills in",
      slideShape('</a:t></a:r><a:fld type="TxLink"><a:t>48 t</a:t></a:fld><a:r><a:t>'),
      "48 t",
    ],
  ])("%s", async (_what, shapes, expected) => expect(await read(slideFile(shapes))).toBe(expected));

  test("a diagram", async () => {
    const data =
      '<dgm:dataModel><dgm:ptLst><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Load</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>';
    const frame =
      '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="r0"/></a:graphicData></a:graphic></p:graphicFrame>';
    const file = slideFile(slideShape("Steps") + frame, [["diagramData", "data1.xml"]], {
      "ppt/data1.xml": data,
    });
    expect(await read(file)).toBe("Steps\n\n- Load");
  });

  test("comments of both kinds with their authors", async () => {
    const body = (text: string) => `<p188:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p188:txBody>`;
    const parts: OfficeParts = {
      "ppt/presentation.xml": {
        xml: '<p:presentation><p:sldId r:id="r0"/></p:presentation>',
        related: [
          ["slide", "slide1.xml"],
          ["commentAuthors", "commentAuthors.xml"],
          ["authors", "authors.xml"],
        ],
      },
      "ppt/slide1.xml": {
        xml: `<p:sld>${slideShape("Prices")}</p:sld>`,
        related: [
          ["comments", "comments/comment1.xml"],
          ["comments", "comments/modernComment1.xml"],
        ],
      },
      "ppt/commentAuthors.xml": '<p:cmAuthorLst><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>',
      "ppt/authors.xml": '<p188:authorLst><p188:author id="{A}" name="Bo"/></p188:authorLst>',
      "ppt/comments/comment1.xml":
        '<p:cmLst><p:cm authorId="0"><p:pos x="1"/><p:text>Too high</p:text></p:cm></p:cmLst>',
      "ppt/comments/modernComment1.xml": `<p188:cmLst><p188:cm authorId="{A}"><p188:replyLst><p188:reply authorId="{A}">${body("Done")}</p188:reply></p188:replyLst>${body("Round them")}</p188:cm></p188:cmLst>`,
    };
    expect(await read(officeFile(parts))).toBe(
      "Prices\n\nComment (Ada): Too high\n\nComment (Bo): Round them\nComment (Bo): Done",
    );
  });

  test("the own text of its layout and master, once", async () => {
    const layout = (name: string, text: string) =>
      `<p:${name}>${slideShape(text)}<p:sp><p:nvSpPr><p:cNvPr id="3" name="Title"/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Click to edit</a:t></a:r></a:p></p:txBody></p:sp></p:${name}>`;
    const file = slideFile(slideShape("Prices"), [["slideLayout", "layout1.xml"]], {
      "ppt/layout1.xml": {
        xml: layout("sldLayout", "Internal only"),
        related: [["slideMaster", "master1.xml"]],
      },
      "ppt/master1.xml": layout("sldMaster", "Port of Lindau"),
    });
    expect(await read(file)).toBe("Prices\n\nInternal only\n\nPort of Lindau");
  });
});

test("what is not read of a presentation is listed", async () => {
  const losses = new Losses();
  const frame = (xml: string) =>
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="x"/></p:nvGraphicFramePr>${xml}</p:graphicFrame>`;
  const picture = (xml: string) =>
    `<p:pic><p:nvPicPr><p:cNvPr id="2" name="p" descr="IMG_1.png">${xml}</p:cNvPr></p:nvPicPr><a:blip r:embed="r9"/></p:pic>`;
  const shapes =
    slideShape("Seen") +
    frame('<p:oleObj progId="Excel.Sheet.12"><p:pic><a:blip/></p:pic></p:oleObj>') +
    picture("") +
    picture('<adec:decorative val="1"/>') +
    '<p:pic><p:nvPr><a:videoFile r:link="r8"/></p:nvPr><a:blip r:embed="r9"/></p:pic>';
  await parseOffice(slideFile(shapes), PPTX, losses);
  expect(losses.list()).toEqual([
    { kind: "embedded object", place: "slide 1", count: 1 },
    { kind: "picture", place: "slide 1", count: 1 },
    { kind: "media", place: "slide 1", count: 1 },
  ]);
});
