import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type PDFDocument from "pdfkit";
import { Unrenderable } from "./unrenderable.ts";

const FILES = {
  plain: "DejaVuSans.ttf",
  bold: "DejaVuSans-Bold.ttf",
  italic: "DejaVuSans-Oblique.ttf",
  both: "DejaVuSans-BoldOblique.ttf",
  mono: "DejaVuSansMono.ttf",
};
export type FontName = keyof typeof FILES;

/** What pdfkit knows of the font in use, and does not say otherwise. */
interface FontInUse {
  _font: { font: { hasGlyphForCodePoint(code: number): boolean } };
}

export function fontFile(name: FontName): string {
  return fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${FILES[name]}`));
}

/** The fonts of a document: DejaVu's, and where they lack a letter those that the operator has named. */
export class PdfFonts {
  readonly #pdf: InstanceType<typeof PDFDocument>;
  /** Named by what they were given as. */
  readonly #others: readonly string[];
  readonly #known = new Map<string, boolean>();

  /** @param others files, of a collection with `#` and the name of one of its fonts */
  constructor(pdf: InstanceType<typeof PDFDocument>, others: readonly string[]) {
    this.#pdf = pdf;
    this.#others = others;
    for (const name of Object.keys(FILES)) pdf.registerFont(name, fontFile(name as FontName));
    for (const font of others) {
      const [file = "", face] = font.split("#");
      pdf.registerFont(font, file, face);
    }
  }

  /**
   * A text as it can be written: signs that no font has are boxes.
   *
   * @throws Unrenderable for letters that no font has
   */
  writable(text: string): string {
    const missing = (text.match(/\p{L}/gu) ?? []).filter((letter) => !this.#isKnown(letter));
    if (missing.length) {
      const some = [...new Set(missing)].slice(0, 5).join("");
      throw new Unrenderable(
        `has letters that no font here has (${some}; the operator adds some by EXPORT_FONTS)`,
      );
    }
    return text.replace(/[\p{So}\p{Sk}\p{Emoji_Presentation}]/gu, (sign) =>
      this.#isKnown(sign) ? sign : "□",
    );
  }

  /** A text in pieces, each with the font to write it in: the wanted one wherever that has the signs. */
  pieces(text: string, wanted: FontName): { text: string; font: string }[] {
    if (this.#others.length === 0) return [{ text, font: wanted }];
    const pieces: { text: string; font: string }[] = [];
    for (const sign of text) {
      const font = this.#has("plain", sign) ? wanted : (this.#otherFor(sign) ?? wanted);
      const last = pieces.at(-1);
      if (last?.font === font) last.text += sign;
      else pieces.push({ text: sign, font });
    }
    return pieces;
  }

  /** The font for a text that can have one only: the one that a sign of it needs. */
  only(text: string): string {
    return this.pieces(text, "plain").find(({ font }) => font !== "plain")?.font ?? "plain";
  }

  #isKnown(sign: string): boolean {
    return this.#has("plain", sign) || this.#otherFor(sign) !== undefined;
  }

  #otherFor(sign: string): string | undefined {
    return this.#others.find((font) => this.#has(font, sign));
  }

  #has(font: string, sign: string): boolean {
    const key = `${sign}${font}`;
    const known = this.#known.get(key) ?? this.#use(font).hasGlyphForCodePoint(sign.codePointAt(0) as number);
    this.#known.set(key, known);
    return known;
  }

  #use(font: string): FontInUse["_font"]["font"] {
    try {
      return (this.#pdf.font(font) as unknown as FontInUse)._font.font;
    } catch {
      throw new Unrenderable(`needs ${basename(font)} of EXPORT_FONTS, which cannot be read as a font`);
    }
  }
}
