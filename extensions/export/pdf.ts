import PDFDocument from "pdfkit";
import { read } from "../../services/work/outputs/render/read.ts";
import type { WriteFile } from "../../services/work/outputs/render/render.ts";
import { type Block, type Run, toBlocks } from "./blocks.ts";
import { PdfFonts } from "./pdf-fonts.ts";
import type { Line } from "./pdf-lines.ts";
import { CODE, MARGIN, Sheet } from "./pdf-sheet.ts";
import { drawTable } from "./pdf-table.ts";

const SIZE = 10.5;
const CODE_SIZE = 9;
const HEADINGS = [20, 16, 13.5, 12, 11, 10.5];
const INDENT = 18;
const GAP = 6;
const CODE_PADDING = 7;
const QUOTED = "#555555";
const RULE = "#cccccc";

/**
 * Renders Markdown as A4 pages.
 *
 * @param at the file's creation date
 * @param others font files for letters that the built-in fonts lack
 * @returns the file, and the letters that are boxes in it
 * @throws Unrenderable if no font has more than a tenth of the letters
 */
async function renderPdf(
  markdown: string,
  { title, at, fonts: others }: { title: string; at: Date; fonts: readonly string[] },
): Promise<{ file: Buffer; missing: string[] }> {
  const info = { Title: title, CreationDate: at, ModDate: at, Producer: "Sensorium", Creator: "Sensorium" };
  // No default font: a font opened under two names is read again on each use.
  const font = null as unknown as string;
  const pdf = new PDFDocument({ size: "A4", margin: MARGIN, info, lang: "en", font });
  const parts: Buffer[] = [];
  pdf.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => pdf.once("end", resolve).once("error", reject));
  const fonts = new PdfFonts(pdf, others);
  const sheet = new Sheet(pdf, fonts);
  for (const block of toBlocks(read(markdown, title))) draw(sheet, block);
  const missing = fonts.takeMissing();
  pdf.end();
  await ended;
  return { file: Buffer.concat(parts), missing };
}

function draw(sheet: Sheet, block: Block): void {
  if (block.kind === "heading") drawHeading(sheet, block);
  else if (block.kind === "paragraph") drawParagraph(sheet, block);
  else if (block.kind === "code") drawCode(sheet, block);
  else if (block.kind === "table") {
    drawTable(sheet, block);
    sheet.y += 2 * GAP;
  } else drawRule(sheet);
}

function drawRule(sheet: Sheet): void {
  sheet.need(4 * GAP);
  sheet.y += GAP;
  sheet.pdf
    .moveTo(MARGIN, sheet.y)
    .lineTo(MARGIN + sheet.width, sheet.y)
    .lineWidth(1)
    .stroke(RULE);
  sheet.y += 2 * GAP;
}

/** Keeps a heading with the first lines that follow it. */
function drawHeading(sheet: Sheet, { depth, runs }: Block & { kind: "heading" }): void {
  const size = HEADINGS[depth - 1] ?? SIZE;
  const bold = runs.map((run) => ({ ...run, bold: true }));
  const lines = sheet.lines(bold, size, sheet.width);
  if (!sheet.isFresh) sheet.y += size * 0.6;
  sheet.need(sheet.heightOf(lines.length, size) + sheet.heightOf(3, SIZE));
  sheet.writeAll(lines, MARGIN, sheet.width, { size });
  sheet.y += GAP;
}

function drawParagraph(sheet: Sheet, { runs, item, indent, quoted }: Block & { kind: "paragraph" }): void {
  const width = sheet.width - indent * INDENT;
  const lines = sheet.lines(runs, SIZE, width);
  const isRightToLeft = lines[0]?.isRightToLeft ?? false;
  const left = isRightToLeft ? MARGIN : MARGIN + indent * INDENT;
  // Leaves no line of it alone on a page.
  sheet.need(sheet.heightOf(lines.length <= 3 ? lines.length : 2, SIZE));
  const bar = (quoted - 0.5) * INDENT;
  sheet.writeAll(lines, left, width, { size: SIZE, ...(quoted > 0 && { color: QUOTED }) }, (n) => {
    if (n === 0 && item)
      drawMarker(sheet, item.marker, isRightToLeft ? MARGIN + width : left - INDENT, isRightToLeft);
    if (quoted) drawBar(sheet, isRightToLeft ? MARGIN + sheet.width - bar : MARGIN + bar);
  });
  sheet.y += item ? GAP / 2 : GAP;
}

/** Draws the marker next to the first line of its item, ending before it. */
function drawMarker(sheet: Sheet, marker: string, left: number, isRightToLeft: boolean): void {
  const [line] = sheet.lines([{ text: marker }], SIZE, Number.POSITIVE_INFINITY);
  const align = isRightToLeft ? "left" : "right";
  const at = isRightToLeft ? left + 5 : left - 5;
  sheet.write(line as Line, at, INDENT, { size: SIZE, align });
}

function drawBar(sheet: Sheet, x: number): void {
  const bottom = sheet.y + sheet.heightOf(1, SIZE);
  sheet.pdf.moveTo(x, sheet.y).lineTo(x, bottom).lineWidth(2).stroke(RULE);
}

/** Long lines are wrapped. */
function drawCode(sheet: Sheet, { text, indent }: Block & { kind: "code" }): void {
  const left = MARGIN + indent * INDENT;
  const width = sheet.width - indent * INDENT;
  const run: Run = { text: text.replaceAll("\t", "    "), code: true };
  const lines = sheet.lines([run], CODE_SIZE, width - 2 * CODE_PADDING);
  const height = sheet.heightOf(1, CODE_SIZE);
  sheet.need(Math.min(lines.length, 3) * height + 2 * CODE_PADDING);
  const pad = () => {
    sheet.pdf.rect(left, sheet.y, width, CODE_PADDING + 0.5).fill(CODE);
    sheet.y += CODE_PADDING;
  };
  pad();
  const manner = { size: CODE_SIZE, align: "left" } as const;
  const fill = () => sheet.pdf.rect(left, sheet.y, width, height + 0.5).fill(CODE);
  sheet.writeAll(lines, left + CODE_PADDING, width - 2 * CODE_PADDING, manner, fill, CODE_PADDING);
  pad();
  sheet.y += GAP;
}

export const write: WriteFile = renderPdf;
