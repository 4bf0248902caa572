import { access, constants } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type PDFDocument from "pdfkit";
import type { Run } from "./blocks.ts";
import type { Piece } from "./pdf-lines.ts";
import { Unrenderable } from "./unrenderable.ts";

const FILES = {
  plain: "DejaVuSans.ttf",
  bold: "DejaVuSans-Bold.ttf",
  italic: "DejaVuSans-Oblique.ttf",
  both: "DejaVuSans-BoldOblique.ttf",
  mono: "DejaVuSansMono.ttf",
};
type FontName = keyof typeof FILES;

/** What pdfkit knows of the font in use, and does not say otherwise. */
interface FontInUse {
  _font: { ascender: number; font: { hasGlyphForCodePoint(code: number): boolean } };
}

/** Pictures and other signs, with what changes their looks. */
const SIGNS = /\p{RGI_Emoji}|[\p{So}\p{Sk}]\ufe0f?/gv;
/** What shows nothing by itself: a font need not have it. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\s]/u;
const graphemes = new Intl.Segmenter();

/** Which of the fonts that an operator has named are not there, or may not be read. */
export async function unreadableFonts(fonts: readonly string[]): Promise<string[]> {
  const readable = await Promise.all(
    fonts.map((font) =>
      access(partsOf(font).file, constants.R_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return fonts.filter((_, n) => !readable[n]);
}

function partsOf(font: string): { file: string; face: string | undefined } {
  const [file = "", face] = font.split("#");
  return { file, face };
}

function fontFile(name: FontName): string {
  return fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${FILES[name]}`));
}

/** The fonts of a document: DejaVu's, and where they lack a letter those that the operator has named. */
export class PdfFonts {
  readonly #pdf: InstanceType<typeof PDFDocument>;
  /** Named by what they were given as. */
  readonly #others: readonly string[];
  /** By font and sign. */
  readonly #known = new Map<string, boolean>();

  /** @param others files, of a collection with `#` and the name of one of its fonts */
  constructor(pdf: InstanceType<typeof PDFDocument>, others: readonly string[]) {
    this.#pdf = pdf;
    this.#others = others;
    for (const name of Object.keys(FILES)) pdf.registerFont(name, fontFile(name as FontName));
    for (const font of others) {
      const { file, face } = partsOf(font);
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
    return text.replace(SIGNS, (sign) => (this.#isKnown(sign) ? sign : "□"));
  }

  /** A run in pieces, each in a font that has its signs: the wanted one wherever it can be. */
  pieces({ text, href, strike = false, ...style }: Run): Piece[] {
    const wanted = fontOf(style);
    const pieces: Piece[] = [];
    // A sign stays together with its accents, vowels and joiners.
    const whole = [{ segment: text }];
    for (const { segment: sign } of this.#hasAll(wanted, text) ? whole : graphemes.segment(text)) {
      const font = this.#fontFor(sign, wanted);
      const last = pieces.at(-1);
      if (last?.font === font) last.text += sign;
      else pieces.push({ text: sign, font, ...emphasis(font, wanted, style), href: href ?? null, strike });
    }
    return pieces;
  }

  /** How far above its base line a font reaches, as a share of its size. */
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
      throw new Unrenderable(`needs ${basename(font)} of EXPORT_FONTS, which cannot be read as a font`);
    }
  }
}

function fontOf({ bold, italic, code }: Run | Omit<Run, "text">): FontName {
  if (code) return "mono";
  if (bold) return italic ? "both" : "bold";
  return italic ? "italic" : "plain";
}

/** What a font lacks of a style. */
function emphasis(font: string, wanted: FontName, { bold, italic }: Omit<Run, "text">) {
  const isWanted = font === wanted;
  return { thickened: Boolean(bold) && !isWanted, slanted: Boolean(italic) && !isWanted };
}
