import { type Page, UnreadableError } from "../../services/remember/documents/parsers/page.ts";
import { controlState, fieldState } from "./docx-forms.ts";
import { Numbering } from "./docx-numbering.ts";
import { readStyles, type Style } from "./docx-styles.ts";
import { noteUnread, type OfficeFile, type Relation } from "./office.ts";
import { formulaText } from "./omml.ts";
import { ElementReader, type Readers } from "./shapes.ts";
import { symbolAt, symbolText } from "./symbols.ts";
import {
  attributeOf,
  childOf,
  childrenOf,
  type Element,
  isOn,
  readElements,
  settingIn,
  textOf,
} from "./xml.ts";

/** Related parts with text, in the order of their texts. */
const OTHERS = ["header", "footer", "footnotes", "endnotes", "comments"];
/** Skipped: what was deleted or moved away, and settings with elements named like text. */
const UNSEEN = new Set(["del", "moveFrom", "tabs", "sectPr", "pPrChange", "rPrChange"]);
/** Elements that are read one after the other, each whole. A table can be as long as the document: its rows are. */
const OUTERMOST = new Set(["p", "tr", "sdt", "altChunk", "AlternateContent", "del", "moveFrom"]);
/** Older drawings, which may have a description. */
const VML = new Set(["shape", "rect", "roundrect", "oval", "line", "polyline", "group", "image"]);
/** Returns the text of a Word document, other parts last, as one page: page breaks depend on the renderer. */
export async function readDocx(file: OfficeFile, main: string): Promise<Page[]> {
  const { archive } = file;
  const related = noteUnread(file, main, "text");
  const splitParts = (wanted: string) => related.filter(({ type }) => type === wanted);
  const [styles, numbering] = ["styles", "numbering"].map((type) =>
    archive.open(splitParts(type)[0]?.part ?? ""),
  );
  const shared = { styles: readStyles(styles), numbering: new Numbering(numbering) };
  const texts: string[] = [];
  for (const { part, type } of [{ part: main, type: "text" }, ...OTHERS.flatMap(splitParts)]) {
    const bytes = archive.open(part);
    if (!bytes) continue;
    const relations = type === "text" ? related : noteUnread(file, part, type);
    const chunks = await readChunks(file, relations, type);
    texts.push(new DocxReader({ ...shared, file, place: type, relations, chunks }).textFrom(bytes));
  }
  // Sections repeat the headers of others.
  return [{ page: null, text: [...new Set(texts)].filter(Boolean).join("\n\n") }];
}

/** Reads the files that a part includes as parts of its text (`w:altChunk`), by their ids. */
async function readChunks(
  file: OfficeFile,
  relations: readonly Relation[],
  place: string,
): Promise<Map<string, string>> {
  const chunks = new Map<string, string>();
  for (const { id, type, part } of relations) {
    if (type !== "aFChunk") continue;
    try {
      chunks.set(id, await file.readEmbedded(file.archive.require(part), part));
    } catch (err) {
      if (!(err instanceof UnreadableError)) throw err;
      file.losses.add("chunk", place);
    }
  }
  return chunks;
}

interface Source {
  file: OfficeFile;
  styles: ReadonlyMap<string, Style>;
  numbering: Numbering;
  /** Name of the part, for what is not read. */
  place: string;
  relations: readonly Relation[];
  chunks: ReadonlyMap<string, string>;
}

/** A place in the text. */
interface Place {
  /** Settings of the paragraph; null once its text began. */
  paragraph: Style | null;
  /** Of the paragraph, once its text began. */
  isItem: boolean;
  isHeading: boolean;
  /** Whether the lines of formulas have begun. */
  hasFormula: boolean;
  /** Texts to show after the paragraph. */
  boxes: string[];
  /** Of the paragraph's style, and of the current run. */
  areRunsHidden: boolean;
  isHidden: boolean;
  font: string;
}

const newPlace = (): Place => ({
  ...{ paragraph: null, isItem: false, isHeading: false, hasFormula: false, boxes: [] },
  ...{ areRunsHidden: false, isHidden: false, font: "" },
});

/** Reads one part: the body, a header, all comments. */
class DocxReader extends ElementReader {
  readonly #source: Source;
  #at = newPlace();
  /** Open fields of older forms. */
  readonly #fields: { state: string | null; inResult: boolean }[] = [];
  /** The control that is being read. */
  #control: { state: string; isWritten: boolean } | null = null;

  constructor(source: Source) {
    super(source.file, source.place, source.relations);
    this.#source = source;
  }

  textFrom(bytes: Uint8Array): string {
    readElements(
      bytes,
      (name) => OUTERMOST.has(name),
      (element) => this.read(element),
      {
        open: (name) => name === "tbl" && this.blocks.openTable(),
        close: (name) => name === "tbl" && this.blocks.closeTable(),
      },
    );
    return this.blocks.end();
  }

  protected override read(element: Element): void {
    const { name } = element;
    if (UNSEEN.has(name)) return;
    if (VML.has(name)) this.describe(element, ["alt"]);
    else super.read(element);
  }

  protected showApart(text: string): void {
    this.#at.boxes.push(text);
  }

  protected readonly objects = new Set(["drawing", "pict", "object"]);

  protected readonly readers: Readers = {
    ...this.common,
    p: (element) => this.#readParagraph(element),
    pStyle: (_, value) => this.#setParagraph(this.#styleOf(value)),
    outlineLvl: (_, value) => this.#setParagraph({ level: Number(value) + 1 }),
    numId: (_, list) => this.#setParagraph({ list }),
    ilvl: (_, value) => this.#setParagraph({ depth: Number(value) }),

    r: (element) => this.#readRun(element),
    rStyle: (_, value) => this.#setRun(this.#styleOf(value)),
    vanish: (_, value) => this.#setRun({ isHidden: isOn(value) }),
    rFonts: (element) => {
      this.#at.font = attributeOf(element, "ascii") ?? attributeOf(element, "hAnsi") ?? "";
    },
    t: (element) => this.#show(symbolText(textOf(element), this.#at.font)),
    sym: (element) =>
      this.#show(symbolAt(attributeOf(element, "char") ?? "", attributeOf(element, "font") ?? "")),
    tab: () => this.#add("\t"),
    ptab: () => this.#add("\t"),
    br: () => this.#lineBreak(),
    cr: () => this.#lineBreak(),
    noBreakHyphen: () => this.#add("-"),
    ruby: (element) => this.#readRuby(element),
    fldChar: (element) => this.#readField(element),
    sdt: (element) => this.#readControl(element),
    oMathPara: (element) => {
      this.#at.hasFormula = false;
      this.readAll(element);
    },
    oMath: (element) => this.#addFormula(formulaText(element)),

    tr: (element) => this.#readRow(element),
    tc: (element) => this.#readCell(element),
    altChunk: (element) => this.#chunk(this.#source.chunks.get(attributeOf(element, "id") ?? "")),

    docPr: (element) => this.describe(element),
    textpath: (element) => this.describe(element, ["string"]),
    imagedata: () => this.note({ hasPicture: true }),
    txbxContent: (element) => this.showApart(this.#readAside(element)),
    OLEObject: () => this.lose("embedded object"),
    subDoc: () => this.lose("subdocument"),
  };

  #styleOf(id = ""): Style | undefined {
    return this.#source.styles.get(id);
  }

  #readRow(element: Element): void {
    const blocks = this.blocks;
    blocks.openRow();
    const before = Number(settingIn(childOf(element, "trPr"), "gridBefore"));
    for (let i = Math.min(100, before); i > 0; i--) {
      blocks.openCell();
      blocks.closeCell();
    }
    this.readAll(element);
    blocks.closeRow();
  }

  #readCell(element: Element): void {
    this.blocks.openCell();
    this.readAll(element);
    this.blocks.closeCell(Number(settingIn(childOf(element, "tcPr"), "gridSpan")) || 1);
  }

  #readRun(element: Element): void {
    Object.assign(this.#at, { isHidden: this.#at.areRunsHidden, font: "" });
    this.readAll(element);
  }

  #setRun({ isHidden = this.#at.isHidden }: Style = {}): void {
    this.#at.isHidden = isHidden;
  }

  #readField(element: Element): void {
    const type = attributeOf(element, "fldCharType");
    const field = this.#fields.at(-1);
    if (type === "begin") this.#fields.push({ state: fieldState(element), inResult: false });
    else if (type === "separate" && field) field.inResult = true;
    else if (type === "end") this.#add(this.#fields.pop()?.state ?? "");
  }

  #readControl(element: Element): void {
    const outer = this.#control;
    const state = controlState(element);
    this.#control = state === null ? null : { state, isWritten: false };
    this.readAll(element);
    this.#writeControl();
    this.#control = outer;
  }

  #writeControl(): void {
    if (!this.#control || this.#control.isWritten) return;
    this.#control.isWritten = true;
    this.#add(this.#control.state);
  }

  /** Shows a text, but not the picture of a state, which is written instead. */
  #show(text: string): void {
    if (this.#at.isHidden) return;
    this.#writeControl();
    const field = this.#fields.at(-1);
    if (!this.#control && !(field?.inResult && field.state !== null)) this.#add(text);
  }

  #readRuby(element: Element): void {
    let reading = "";
    this.blocks.openRuby();
    for (const child of childrenOf(element))
      if (child.name === "rt") reading += this.#readAside(child);
      else this.read(child);
    this.blocks.closeRuby(reading);
  }

  /** Returns text that is elsewhere; the paragraph goes on after it. */
  #readAside(element: Element): string {
    const outer = this.#at;
    this.#at = { ...newPlace(), areRunsHidden: outer.areRunsHidden };
    this.blocks.aside();
    this.readAll(element);
    this.#at = outer;
    return this.blocks.take();
  }

  #chunk(text = ""): void {
    const blocks = this.blocks;
    blocks.break(2);
    blocks.text(text);
    blocks.break(2);
  }

  #addFormula(text: string): void {
    const at = this.#at;
    if (text) this.#add(at.hasFormula && !at.paragraph ? `\n${text}` : text);
    at.hasFormula = true;
  }

  #add(text: string): void {
    const at = this.#at;
    if (at.isHidden || text === "") return;
    const { paragraph } = at;
    if (paragraph) this.#beginParagraph(paragraph);
    this.blocks.text(text);
  }

  #beginParagraph({ level, list, depth }: Style): void {
    const blocks = this.blocks;
    if (level) blocks.heading(level);
    const mark = this.#source.numbering.next(list, depth);
    if (mark) blocks.item(mark, level ? 0 : depth);
    else blocks.break(2);
    Object.assign(this.#at, { paragraph: null, isItem: Boolean(mark), isHeading: Boolean(level) });
  }

  /** A break before the text is one of the page; a heading is one line. */
  #lineBreak(): void {
    const { paragraph, isHidden, isHeading } = this.#at;
    if (!paragraph && !isHidden) this.blocks.text(isHeading ? " " : "\n");
  }

  #readParagraph(element: Element): void {
    const at = this.#at;
    Object.assign(at, { paragraph: {}, hasFormula: false, areRunsHidden: false });
    this.readAll(element);
    at.paragraph = null;
    this.blocks.endBlock(at.isItem ? 1 : 2);
    // A box is shown next to the paragraph that it is anchored in.
    for (const text of at.boxes.splice(0)) this.#chunk(text);
  }

  #setParagraph(more: Style | undefined): void {
    const at = this.#at;
    if (at.paragraph && more) Object.assign(at.paragraph, more);
    if (more?.isHidden) at.areRunsHidden = true;
  }
}
