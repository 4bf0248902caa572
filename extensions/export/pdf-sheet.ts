import type PDFDocument from "pdfkit";
import type { Run } from "./blocks.ts";
import type { PdfFonts } from "./pdf-fonts.ts";
import { breakLines, type Line, type Placed } from "./pdf-lines.ts";

export const MARGIN = 64;
const INK = "#1c1c1c";
const LINK = "#0b57d0";
const FAINT = "#767676";
export const CODE = "#f4f4f4";
/** Distance between base lines, as a share of the size. */
const LEADING = 1.45;
/** From the top of a line to its base line, as a share of the size. */
const BASE = 1.06;
const NUMBER_SIZE = 8.5;

/** The style of a line. */
interface Manner {
  size: number;
  color?: string;
  /** Alignment in its width; by default by the text's direction. */
  align?: "left" | "center" | "right" | null;
}

/** A document's pages, written line by line from top to bottom. Lengths are in points. */
export class Sheet {
  readonly pdf: InstanceType<typeof PDFDocument>;
  readonly #fonts: PdfFonts;
  #page = 1;
  /** The top of the next line. */
  y = MARGIN;

  constructor(pdf: InstanceType<typeof PDFDocument>, fonts: PdfFonts) {
    this.pdf = pdf;
    this.#fonts = fonts;
  }

  get width(): number {
    return this.pdf.page.width - 2 * MARGIN;
  }

  get isFresh(): boolean {
    return this.y === MARGIN;
  }

  /** The height left on the page. */
  get left(): number {
    return this.pdf.page.height - MARGIN - this.y;
  }

  heightOf(lines: number, size: number): number {
    return lines * size * LEADING;
  }

  /** Begins a new page if less than this height is left. */
  need(height: number): void {
    if (height > this.left && !this.isFresh) this.turn();
  }

  turn(): void {
    this.pdf.addPage();
    this.#page++;
    this.y = this.pdf.page.height - MARGIN / 2;
    const number: Run = { text: String(this.#page) };
    const [line] = this.lines([number], NUMBER_SIZE, this.width);
    this.write(line as Line, MARGIN, this.width, { size: NUMBER_SIZE, color: FAINT, align: "center" });
    this.y = MARGIN;
  }

  lines(runs: readonly Run[], size: number, width: number): Line[] {
    const pieces = runs.flatMap((run) => this.#fonts.pieces(run));
    return breakLines(pieces, width, ({ font }, text) => this.pdf.font(font, size).widthOfString(text));
  }

  /** Writes a line at the current position without advancing. */
  write(line: Line, left: number, width: number, { size, color = INK, align = null }: Manner): void {
    const side = align ?? (line.isRightToLeft ? "right" : "left");
    const free = width - line.width;
    let x = left + (side === "left" ? 0 : side === "center" ? free / 2 : free);
    // All fonts share one base line.
    const base = this.y + size * BASE;
    for (const piece of line.pieces) {
      this.#draw(piece, x, base - this.#fonts.ascent(piece.font) * size, { size, color });
      x += piece.width;
    }
  }

  /**
   * Writes lines one below the other, from page to page.
   *
   * @param before called with each line's number once it is on its page
   * @param below height that each needs on its page below it
   */
  writeAll(
    lines: readonly Line[],
    left: number,
    width: number,
    manner: Manner,
    before?: (n: number) => void,
    below = 0,
  ): void {
    const height = this.heightOf(1, manner.size);
    for (const [n, line] of lines.entries()) {
      this.need(height + below);
      before?.(n);
      this.write(line, left, width, manner);
      this.y += height;
    }
  }

  #draw(piece: Placed, x: number, top: number, { size, color }: { size: number; color: string }): void {
    const { text, font, href, strike, thickened, slanted, level } = piece;
    const ink = href ? LINK : color;
    if (font === "mono") this.pdf.rect(x, top, piece.width, size * 1.2).fill(CODE);
    this.pdf
      .font(font, size)
      .fillColor(ink)
      .strokeColor(ink)
      .lineWidth(size / 32);
    this.pdf.text(text, x, top, {
      ...{ lineBreak: false, link: href, underline: href !== null, strike, oblique: slanted },
      ...(thickened && { fill: true, stroke: true }),
      // Lays out right-to-left text as a whole: word by word the order would be wrong.
      ...(level & 1 && { features: [] }),
    } as PDFKit.Mixins.TextOptions);
  }
}
