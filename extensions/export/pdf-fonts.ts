import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type PDFDocument from "pdfkit";
import type { Run } from "./blocks.ts";
import type { Piece } from "./pdf-lines.ts";

const FILES = {
  plain: "DejaVuSans.ttf",
  bold: "DejaVuSans-Bold.ttf",
  italic: "DejaVuSans-Oblique.ttf",
  both: "DejaVuSans-BoldOblique.ttf",
  mono: "DejaVuSansMono.ttf",
};
type FontName = keyof typeof FILES;

/** Internals of pdfkit's current font that its types omit. */
interface FontInUse {
  _font: { ascender: number; font: { hasGlyphForCodePoint(code: number): boolean } };
}

const LETTER = /^\p{L}$/u;
/** Letters, emoji and other symbols, with their variation selectors. */
const SIGNS = /\p{RGI_Emoji}|[\p{So}\p{Sk}]\ufe0f?|\p{L}/gv;
/** Share of a text's letters that may be boxes. */
const MOST_BOXES = 0.1;
/** Invisible characters: a font need not have them. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\s]/u;
const graphemes = new Intl.Segmenter();

/** Selects a document's fonts: DejaVu, and the operator's for missing letters. */
export class PdfFonts {
  readonly #pdf: InstanceType<typeof PDFDocument>;
  /** Named by their paths. */
  readonly #others: readonly string[];
  /** By font and character. */
  readonly #known = new Map<string, boolean>();
  readonly #missing = new Set<string>();
  #letters = 0;
  #boxes = 0;

  /** @param others files; for a collection followed by `#` and the name of one of its fonts */
  constructor(pdf: InstanceType<typeof PDFDocument>, others: readonly string[]) {
    this.#pdf = pdf;
    this.#others = others;
    for (const [name, file] of Object.entries(FILES))
      pdf.registerFont(name, fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${file}`)));
    for (const font of others) {
      const [file = "", face] = font.split("#");
      pdf.registerFont(font, file, face);
    }
  }

  /**
   * Returns the letters that are boxes, because no font has them.
   *
   * @throws Unrenderable if these are so many that the text cannot be read
   */
  takeMissing(): string[] {
    const missing = [...this.#missing];
    if (this.#boxes <= this.#letters * MOST_BOXES) return missing;
    const some = missing.slice(0, 5).join("");
    throw new Unrenderable(
      `has letters that no installed font contains (${some}; the operator can add fonts with EXPORT_FONTS)`,
    );
  }

  /** Returns a text with boxes for letters and symbols that no font has. */
  #writable(text: string): string {
    return text.replace(SIGNS, (sign) => {
      const isLetter = LETTER.test(sign);
      if (isLetter) this.#letters++;
      if (this.#isKnown(sign)) return sign;
      if (isLetter) {
        this.#boxes++;
        this.#missing.add(sign);
      }
      return "□";
    });
  }

  /** Splits a run into pieces with a font for each, preferring the wanted one. */
  pieces({ text: written, href, strike = false, ...style }: Run): Piece[] {
    const text = this.#writable(written);
    const wanted = chooseFont(style);
    const pieces: Piece[] = [];
    // Keeps a character together with its accents, vowels and joiners.
    const whole = [{ segment: text }];
    for (const { segment: sign } of this.#hasAll(wanted, text) ? whole : graphemes.segment(text)) {
      const font = this.#fontFor(sign, wanted);
      const last = pieces.at(-1);
      if (last?.font === font) last.text += sign;
      else pieces.push({ text: sign, font, ...emphasis(font, wanted, style), href: href ?? null, strike });
    }
    return pieces;
  }

  /** Returns a font's ascent, as a share of its size. */
  ascent(font: string): number {
    return this.#use(font).ascender / 1000;
  }

  #fontFor(sign: string, wanted: FontName): string {
    return [wanted, "plain", ...this.#others].find((font) => this.#hasAll(font, sign)) ?? wanted;
  }

  #isKnown(sign: string): boolean {
    return ["plain", ...this.#others].some((font) => this.#hasAll(font, sign));
  }

  #hasAll(font: string, text: string): boolean {
    for (const sign of text) if (!this.#has(font, sign)) return false;
    return true;
  }

  #has(font: string, sign: string): boolean {
    const key = `${sign}${font}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      known = UNSEEN.test(sign) || this.#use(font).font.hasGlyphForCodePoint(sign.codePointAt(0) as number);
      this.#known.set(key, known);
    }
    return known;
  }

  #use(font: string): FontInUse["_font"] {
    try {
      return (this.#pdf.font(font) as unknown as FontInUse)._font;
    } catch {
      throw new Unrenderable(`needs ${basename(font)} of EXPORT_FONTS, which is not a readable font`);
    }
  }
}

function chooseFont({ bold, italic, code }: Run | Omit<Run, "text">): FontName {
  if (code) return "mono";
  if (bold) return italic ? "both" : "bold";
  return italic ? "italic" : "plain";
}

/** Returns the styles that must be simulated because a font lacks them. */
function emphasis(font: string, wanted: FontName, { bold, italic }: Omit<Run, "text">) {
  const isWanted = font === wanted;
  return { thickened: Boolean(bold) && !isWanted, slanted: Boolean(italic) && !isWanted };
}

/**
 * Thrown if a format cannot hold a text; the message gives the reason, in words that follow "As pdf this text ". Its name
 * identifies it, because the package of the exports has another class.
 */
class Unrenderable extends Error {
  override name = "Unrenderable";
}
