import { defined } from "../../../../lib/defined.ts";
import { Blocks } from "../../../../lib/text/blocks.ts";
import { Numbering } from "./docx-numbering.ts";
import { type Archive, readRelations, readXml } from "./office.ts";
import type { Page } from "./page.ts";

/** Related parts with text, in the order of their texts. */
const OTHERS = ["header", "footer", "footnotes", "endnotes", "comments"];
/** Skipped: a copy for older programs, what was deleted or moved away, and settings with elements named like text. */
const UNSEEN = new Set(["Fallback", "del", "moveFrom", "tabs", "sectPr", "pPrChange", "rPrChange"]);
const isOn = (value = "true") => !["0", "false", "off", "none"].includes(value);

/** Returns the text of a Word document, other parts last, as one page: page breaks depend on the renderer. */
export function readDocx(archive: Archive, main: string): Page[] {
  const related = readRelations(archive, main);
  const splitParts = (wanted: string) =>
    related.filter(({ type }) => type === wanted).map(({ part }) => part);
  const others = OTHERS.flatMap(splitParts);
  const [stylesPart = "", numberingPart = ""] = ["styles", "numbering"].map((type) => splitParts(type)[0]);
  const parts = archive.open([main, ...others, stylesPart, numberingPart]);
  const styles = readStyles(parts.get(stylesPart));
  const numbering = new Numbering(parts.get(numberingPart));
  const texts = [main, ...others].flatMap((name) => {
    const bytes = parts.get(name);
    return bytes ? [new DocxReader(styles, numbering).read(bytes)] : [];
  });
  // Sections repeat the headers of others.
  return [{ page: null, text: [...new Set(texts)].filter(Boolean).join("\n\n") }];
}

/** Reads one part: the body, a header, all comments. */
class DocxReader {
  readonly #styles: ReadonlyMap<string, Style>;
  readonly #numbering: Numbering;
  readonly #blocks = new Blocks();
  #unseen = 0;
  /** Of the paragraph's style, and of the current run. */
  #areRunsHidden = false;
  #isHidden = false;
  /** Of the current paragraph, once its text began. */
  #isItem = false;
  #isHeading = false;
  #inText = false;
  /** Settings of the paragraph; null once its text began. */
  #paragraph: Style | null = null;
  /** Columns of the open cells. */
  readonly #cells: number[] = [];
  readonly #boxes: string[] = [];
  readonly #readings: string[] = [];

  constructor(styles: ReadonlyMap<string, Style>, numbering: Numbering) {
    this.#styles = styles;
    this.#numbering = numbering;
  }

  read(bytes: Uint8Array): string {
    readXml(bytes, {
      open: (name, attributes) => this.#open(name, (key) => readAttribute(attributes, key)),
      close: (name) => this.#close(name),
      text: (given) => {
        if (this.#inText && !this.#unseen && !this.#isHidden) this.#add(given);
      },
    });
    return this.#blocks.end();
  }

  #open(name: string, attribute: (key: string) => string | undefined): void {
    if (this.#unseen || UNSEEN.has(name)) {
      this.#unseen++;
      return;
    }
    const value = () => attribute("val");
    const blocks = this.#blocks;
    if (name === "p") {
      this.#paragraph = {};
      this.#areRunsHidden = false;
    } else if (name === "r") this.#isHidden = this.#areRunsHidden;
    else if (name === "pStyle") this.#setParagraph(this.#styles.get(value() ?? ""));
    else if (name === "rStyle") this.#isHidden = this.#styles.get(value() ?? "")?.isHidden ?? this.#isHidden;
    else if (name === "outlineLvl") this.#setParagraph({ level: Number(value()) + 1 });
    else if (name === "numId") this.#setParagraph({ list: value() });
    else if (name === "ilvl") this.#setParagraph({ depth: Number(value()) });
    else if (name === "vanish") this.#isHidden = isOn(value());
    else if (name === "t") this.#inText = true;
    else if (name === "tab" || name === "ptab") this.#add("\t");
    else if (name === "br" || name === "cr") this.#lineBreak();
    else if (name === "noBreakHyphen") this.#add("-");
    else if (name === "tbl") blocks.openTable();
    else if (name === "tr") blocks.openRow();
    else if (name === "tc") {
      this.#cells.push(1);
      blocks.openCell();
    } else if (name === "gridSpan") this.#cells.splice(-1, 1, Number(value()) || 1);
    else if (name === "gridBefore")
      for (let i = Math.min(100, Number(value())); i > 0; i--) this.#emptyCell();
    else if (name === "txbxContent" || name === "rt") blocks.aside();
    else if (name === "ruby") this.#readings.push("");
  }

  #close(name: string): void {
    if (this.#unseen) {
      this.#unseen--;
      return;
    }
    const blocks = this.#blocks;
    if (name === "t") this.#inText = false;
    else if (name === "p") this.#endParagraph();
    else if (name === "tc") blocks.closeCell(this.#cells.pop());
    else if (name === "tr") blocks.closeRow();
    else if (name === "tbl") blocks.closeTable();
    else if (name === "txbxContent") this.#boxes.push(blocks.take());
    else if (name === "rt") this.#readings.push((this.#readings.pop() ?? "") + blocks.take());
    else if (name === "ruby") {
      // After the word, not within it.
      const reading = this.#readings.pop();
      if (reading) blocks.text(`(${reading})`);
    }
  }

  #add(text: string): void {
    if (this.#isHidden) return;
    const paragraph = this.#paragraph;
    this.#paragraph = null;
    if (paragraph?.level) this.#blocks.heading(paragraph.level);
    const mark = paragraph && this.#numbering.next(paragraph.list, paragraph.depth);
    if (mark) this.#blocks.item(mark, paragraph.level ? 0 : paragraph.depth);
    else if (paragraph) this.#blocks.break(2);
    if (paragraph) [this.#isItem, this.#isHeading] = [Boolean(mark), Boolean(paragraph.level)];
    this.#blocks.text(text);
  }

  /** A break before the text is one of the page; a heading is one line. */
  #lineBreak(): void {
    if (!this.#paragraph && !this.#isHidden) this.#blocks.text(this.#isHeading ? " " : "\n");
  }

  #endParagraph(): void {
    this.#paragraph = null;
    this.#blocks.endBlock(this.#isItem ? 1 : 2);
    // A box is shown next to the paragraph that it is anchored in.
    for (const text of this.#boxes.splice(0)) {
      this.#blocks.text(text);
      this.#blocks.break(2);
    }
  }

  #setParagraph(more: Style | undefined): void {
    if (this.#paragraph && more) Object.assign(this.#paragraph, more);
    if (more?.isHidden) this.#areRunsHidden = true;
  }

  #emptyCell(): void {
    this.#blocks.openCell();
    this.#blocks.closeCell();
  }
}

/** Returns an attribute by its name without prefix: each file may choose another. */
function readAttribute(attributes: Record<string, string>, key: string): string | undefined {
  return Object.entries(attributes).find(([name]) => name.slice(name.indexOf(":") + 1) === key)?.[1];
}

/** What a paragraph's or run's style says about its text. */
interface Style {
  /** Level of a heading, from 1. */
  level?: number;
  /** Id of the list that it is an item of; "0" for none. */
  list?: string | undefined;
  /** Depth in the list, from 0. */
  depth?: number;
  isHidden?: boolean;
}

/** Deeper inheritance is a circle. */
const MAX_BASES = 20;

/** Returns the styles of a Word document by id, with what they inherit. */
function readStyles(bytes: Uint8Array | undefined): Map<string, Style> {
  const own = new Map<string, Style & { base?: string }>();
  if (!bytes) return own;
  let style: Style & { base?: string } = {};
  readXml(bytes, {
    open(name, attributes) {
      const of = (key: string) => attributes[`w:${key}`] ?? attributes[key];
      const value = of("val") ?? "";
      if (name === "style") {
        style = {};
        own.set(of("styleId") ?? "", style);
      } else if (name === "name") style.level ??= headingLevel(value);
      else if (name === "basedOn") style.base = value;
      else if (name === "outlineLvl") style.level = Number(value) < 9 ? Number(value) + 1 : undefined;
      else if (name === "numId") style.list = value;
      else if (name === "ilvl") style.depth = Number(value);
      else if (name === "vanish") style.isHidden = !["0", "false", "off"].includes(value);
    },
  });
  const inherited = (id: string, left = MAX_BASES): Style => {
    const { base, ...rest } = own.get(id) ?? {};
    return base && left ? { ...inherited(base, left - 1), ...defined(rest) } : rest;
  };
  return new Map([...own.keys()].map((id) => [id, inherited(id)]));
}

/** Reads the built-in names, which are the same in every language: `heading 2`, `Title`. */
function headingLevel(name: string): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}
