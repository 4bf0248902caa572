import { marked } from "marked";
import PDFDocument from "pdfkit";
import { type Block, blocksOf, type Run } from "./blocks.ts";
import { type FontName, fontFile, PdfFonts } from "./pdf-fonts.ts";

type Pdf = InstanceType<typeof PDFDocument>;

const SIZE = 10.5;
const HEADINGS = [20, 16, 13.5, 12, 11, 10.5];
const INDENT = 18;
const MARGIN = 64;

/** A document, and what it is written with. */
interface Page {
  pdf: Pdf;
  fonts: PdfFonts;
}

/**
 * Markdown as pages of A4.
 *
 * @param at the date the file says it was made
 * @param others files of fonts for letters that the built-in ones lack
 * @throws Unrenderable for letters that no font has; other signs they lack become boxes
 */
export async function renderPdf(
  markdown: string,
  { title, at, fonts: others }: { title: string; at: Date; fonts: readonly string[] },
): Promise<Buffer> {
  const info = { Title: title, CreationDate: at, ModDate: at, Producer: "Afferent", Creator: "Afferent" };
  const pdf = new PDFDocument({ size: "A4", margin: MARGIN, info, lang: "en", font: fontFile("plain") });
  const parts: Buffer[] = [];
  pdf.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => pdf.once("end", resolve).once("error", reject));
  const fonts = new PdfFonts(pdf, others);
  for (const block of blocksOf(marked.lexer(fonts.writable(markdown), { gfm: true })))
    draw({ pdf, fonts }, block);
  pdf.end();
  await ended;
  return Buffer.concat(parts);
}

function draw(page: Page, block: Block): void {
  const { pdf, fonts } = page;
  pdf.fillColor("#1c1c1c").fontSize(SIZE);
  switch (block.kind) {
    case "heading":
      pdf.moveDown(0.6).fontSize(HEADINGS[block.depth - 1] ?? SIZE);
      write(
        page,
        block.runs.map((run) => ({ ...run, bold: true })),
        MARGIN,
      );
      break;
    case "paragraph":
      writeMarked(page, block);
      break;
    case "code":
      pdf.fontSize(SIZE - 1.5);
      write(page, [{ text: block.text || " ", code: true }], MARGIN + block.indent * INDENT);
      break;
    case "table":
      pdf.font("plain").fontSize(SIZE - 1);
      pdf.x = MARGIN;
      pdf.table({
        data: block.rows.map((row) => row.map((runs) => cell(fonts, runs))),
        defaultStyle: { border: 0.5, borderColor: "#bbbbbb", padding: 4 },
        rowStyles: (row) => (row === 0 ? { backgroundColor: "#f2f2f2" } : {}),
      });
      break;
    case "rule":
      pdf
        .moveTo(MARGIN, pdf.y)
        .lineTo(pdf.page.width - MARGIN, pdf.y)
        .strokeColor("#cccccc")
        .stroke();
  }
  pdf.moveDown(0.5);
}

/** A paragraph, with the marker of its item before it. */
function writeMarked(page: Page, { runs, marker, indent }: Block & { kind: "paragraph" }): void {
  const { pdf } = page;
  const left = MARGIN + indent * INDENT;
  if (marker) {
    if (pdf.y + 2 * SIZE > pdf.page.height - MARGIN) pdf.addPage();
    const top = pdf.y;
    pdf.font("plain").text(marker, left - INDENT, top, { lineBreak: false });
    pdf.y = top;
  }
  write(page, runs, left);
}

function cell(fonts: PdfFonts, runs: Run[]) {
  const text = runs.map((run) => run.text).join("");
  return { text, font: { src: fonts.only(text), size: SIZE - 1 } };
}

/** Writes the pieces of a paragraph one after the other. */
function write({ pdf, fonts }: Page, runs: Run[], left: number): void {
  const pieces = runs.flatMap(({ text, ...style }) =>
    fonts.pieces(text, fontOf(style)).map((piece) => ({ ...style, ...piece })),
  );
  pdf.x = left;
  for (const [at, { text, font, href = null, strike = false }] of pieces.entries()) {
    pdf.font(font).fillColor(href ? "#0b57d0" : "#1c1c1c");
    // What is not said again goes on from the piece before.
    const options = { continued: at < pieces.length - 1, link: href, underline: href !== null, strike };
    pdf.text(text, options as PDFKit.Mixins.TextOptions);
  }
}

function fontOf({ bold, italic, code }: Omit<Run, "text">): FontName {
  if (code) return "mono";
  if (bold) return italic ? "both" : "bold";
  return italic ? "italic" : "plain";
}
