import { fileURLToPath } from "node:url";
import { marked } from "marked";
import PDFDocument from "pdfkit";
import { type Block, blocksOf, type Run } from "./blocks.ts";
import { Unrenderable } from "./unrenderable.ts";

type Pdf = InstanceType<typeof PDFDocument>;

const SIZE = 10.5;
const HEADINGS = [20, 16, 13.5, 12, 11, 10.5];
const INDENT = 18;
const MARGIN = 64;
const FONTS = {
  plain: "DejaVuSans.ttf",
  bold: "DejaVuSans-Bold.ttf",
  italic: "DejaVuSans-Oblique.ttf",
  both: "DejaVuSans-BoldOblique.ttf",
  mono: "DejaVuSansMono.ttf",
};

/**
 * Markdown as pages of A4.
 *
 * @param at the date the file says it was made
 * @throws Unrenderable for letters that the fonts do not have; other signs they lack become boxes
 */
export async function renderPdf(markdown: string, title: string, at: Date): Promise<Buffer> {
  const info = { Title: title, CreationDate: at, ModDate: at, Producer: "Afferent", Creator: "Afferent" };
  const pdf = new PDFDocument({ size: "A4", margin: MARGIN, info, lang: "en", font: fontFile("plain") });
  for (const name of Object.keys(FONTS)) pdf.registerFont(name, fontFile(name as keyof typeof FONTS));
  const parts: Buffer[] = [];
  pdf.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => pdf.once("end", resolve).once("error", reject));
  const written = inFont(pdf, markdown);
  for (const block of blocksOf(marked.lexer(written, { gfm: true }))) draw(pdf, block);
  pdf.end();
  await ended;
  return Buffer.concat(parts);
}

/** What pdfkit knows of the font in use, and does not say otherwise. */
interface FontOf {
  _font: { font: { hasGlyphForCodePoint(code: number): boolean } };
}

function inFont(pdf: Pdf, text: string): string {
  const { font } = (pdf.font("plain") as unknown as FontOf)._font;
  const has = (sign: string) => font.hasGlyphForCodePoint(sign.codePointAt(0) as number);
  const missing = (text.match(/\p{L}/gu) ?? []).filter((letter) => !has(letter));
  if (missing.length) {
    const some = [...new Set(missing)].slice(0, 5).join("");
    throw new Unrenderable(`has letters that its fonts do not have (${some})`);
  }
  return text.replace(/[\p{So}\p{Sk}\p{Emoji_Presentation}]/gu, (sign) => (has(sign) ? sign : "□"));
}

function fontFile(name: keyof typeof FONTS): string {
  return fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${FONTS[name]}`));
}

function draw(pdf: Pdf, block: Block): void {
  pdf.fillColor("#1c1c1c").fontSize(SIZE);
  switch (block.kind) {
    case "heading":
      pdf.moveDown(0.6).fontSize(HEADINGS[block.depth - 1] ?? SIZE);
      write(
        pdf,
        block.runs.map((run) => ({ ...run, bold: true })),
        MARGIN,
      );
      break;
    case "paragraph":
      writeMarked(pdf, block);
      break;
    case "code":
      pdf.font("mono").fontSize(SIZE - 1.5);
      pdf.text(block.text || " ", MARGIN + block.indent * INDENT, pdf.y);
      break;
    case "table":
      pdf.font("plain").fontSize(SIZE - 1);
      pdf.x = MARGIN;
      pdf.table({
        data: block.rows.map((row) => row.map(textOf)),
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
function writeMarked(pdf: Pdf, { runs, marker, indent }: Block & { kind: "paragraph" }): void {
  const left = MARGIN + indent * INDENT;
  if (marker) {
    if (pdf.y + 2 * SIZE > pdf.page.height - MARGIN) pdf.addPage();
    const top = pdf.y;
    pdf.font("plain").text(marker, left - INDENT, top, { lineBreak: false });
    pdf.y = top;
  }
  write(pdf, runs, left);
}

const textOf = (runs: Run[]) => runs.map(({ text }) => text).join("");

/** Writes the pieces of a paragraph one after the other. */
function write(pdf: Pdf, runs: Run[], left: number): void {
  const shown = runs.filter(({ text }) => text);
  pdf.x = left;
  for (const [at, { text, href = null, strike = false, ...style }] of shown.entries()) {
    pdf.font(fontOf(style)).fillColor(href ? "#0b57d0" : "#1c1c1c");
    // What is not said again goes on from the piece before.
    const options = { continued: at < shown.length - 1, link: href, underline: href !== null, strike };
    pdf.text(text, options as PDFKit.Mixins.TextOptions);
  }
}

function fontOf({ bold, italic, code }: Omit<Run, "text">): keyof typeof FONTS {
  if (code) return "mono";
  if (bold) return italic ? "both" : "bold";
  return italic ? "italic" : "plain";
}
