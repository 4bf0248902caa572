import { Blocks } from "../../lib/text/blocks.ts";
import { type Page, UnreadableError } from "../../services/remember/documents/parsers/page.ts";
import { readDiagram } from "./diagram.ts";
import { FormFields } from "./docx-forms.ts";
import { Numbering } from "./docx-numbering.ts";
import { readStyles, type Style } from "./docx-styles.ts";
import {
  Alternatives,
  isOn,
  noteUnread,
  type OfficeFile,
  type Relation,
  readAttribute,
  readXml,
} from "./office.ts";
import { Formula } from "./omml.ts";
import { describe, readChart } from "./shapes.ts";
import { symbolAt, symbolText } from "./symbols.ts";

/** Related parts with text, in the order of their texts. */
const OTHERS = ["header", "footer", "footnotes", "endnotes", "comments"];
/** Skipped: what was deleted or moved away, and settings with elements named like text. */
const UNSEEN = new Set(["del", "moveFrom", "tabs", "sectPr", "pPrChange", "rPrChange"]);
/** Elements that are one object of a page, with a separate description. */
const OBJECTS = new Set(["drawing", "pict", "object"]);
/** Older drawings, which may have a description. */
const VML = new Set(["shape", "rect", "roundrect", "oval", "line", "polyline", "group", "image"]);
/** Kinds of losses by the element that shows what is not read. */
const UNREAD: Record<string, string> = {
  OLEObject: "embedded object",
  control: "control",
  contentPart: "ink",
  subDoc: "subdocument",
};

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
    texts.push(new DocxReader({ ...shared, file, place: type, relations, chunks }).read(bytes));
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

interface PageObject {
  /** Descriptions: Word writes the same one twice. */
  texts: Set<string>;
  isDescribed: boolean;
  hasPicture: boolean;
}

/** Reads one part: the body, a header, all comments. */
class DocxReader {
  readonly #source: Source;
  readonly #relations: ReadonlyMap<string, string>;
  readonly #blocks = new Blocks();
  readonly #alternatives = new Alternatives();
  readonly #forms = new FormFields((text) => this.#add(text));
  readonly #objects: PageObject[] = [];
  #formula: Formula | null = null;
  /** Open elements inside the formula. */
  #inFormula = 0;
  #unseen = 0;
  /** Of the current run. */
  #font = "";
  /** Of the paragraph's style, and of the current run. */
  #areRunsHidden = false;
  #isHidden = false;
  /** Of the current paragraph, once its text began. */
  #isItem = false;
  #isHeading = false;
  #inText = false;
  /** Settings of the paragraph; null once its text began. */
  #paragraph: Style | null = null;
  readonly #outer: [paragraph: Style | null, isItem: boolean, isHeading: boolean, boxes: string[]][] = [];
  /** Whether the lines of formulas have begun. */
  #hasFormula = false;
  /** Columns of the open cells. */
  readonly #cells: number[] = [];
  /** Texts to show after the paragraph. */
  #boxes: string[] = [];
  readonly #readings: string[] = [];

  constructor(source: Source) {
    this.#source = source;
    this.#relations = new Map(source.relations.map(({ id, part }) => [id, part]));
  }

  read(bytes: Uint8Array): string {
    readXml(bytes, this);
    return this.#blocks.end();
  }

  text(given: string): void {
    if (this.#unseen) return;
    if (this.#formula) this.#formula.text(given);
    else if (this.#inText) this.#show(symbolText(given, this.#font));
  }

  #show(text: string): void {
    if (!this.#isHidden && !this.#forms.isReplaced()) this.#add(text);
  }

  open(name: string, attributes: Record<string, string>): void {
    if (this.#unseen || UNSEEN.has(name) || this.#alternatives.isOther(name)) {
      this.#unseen++;
      return;
    }
    const attribute = (key: string) => readAttribute(attributes, key);
    const value = () => attribute("val");
    if (this.#formula) {
      this.#inFormula++;
      this.#formula.open(name, value());
    } else if (name === "oMath") this.#formula = new Formula();
    else if (!this.#forms.open(name, attribute) && !this.#openObject(name, attribute))
      this.#openText(name, value);
  }

  /** Reads what is drawn or included; returns false for other elements. */
  #openObject(name: string, attribute: (key: string) => string | undefined): boolean {
    const { file, place } = this.#source;
    const related = (key: string) => this.#relations.get(attribute(key) ?? "");
    const kind = UNREAD[name];
    const current = this.#objects.at(-1);
    if (OBJECTS.has(name)) this.#objects.push({ texts: new Set(), isDescribed: false, hasPicture: false });
    else if (name === "docPr" || name === "cNvPr") this.#describe(attribute("descr"), attribute("title"));
    else if (name === "textpath") this.#describe(attribute("string"));
    else if (VML.has(name)) this.#describe(attribute("alt"));
    else if (name === "sym") this.#show(symbolAt(attribute("char") ?? "", attribute("font") ?? ""));
    else if (name === "rFonts") this.#font = attribute("ascii") ?? attribute("hAnsi") ?? "";
    else if (name === "decorative" && current && isOn(attribute("val"))) current.isDescribed = true;
    else if ((name === "blip" || name === "imagedata") && current) current.hasPicture = true;
    else if (name === "altChunk") this.#chunk(this.#source.chunks.get(attribute("id") ?? ""));
    else if (name === "chart") this.#boxes.push(readChart(file, related("id") ?? "", place));
    else if (name === "relIds") this.#boxes.push(readDiagram(file, related("dm") ?? "", place));
    else if (kind) {
      file.losses.add(kind, place);
      if (current) current.isDescribed = true;
    } else return false;
    return true;
  }

  #openText(name: string, value: () => string | undefined): void {
    const blocks = this.#blocks;
    if (name === "p") {
      this.#paragraph = {};
      this.#hasFormula = false;
      this.#areRunsHidden = false;
    } else if (name === "r") {
      this.#isHidden = this.#areRunsHidden;
      this.#font = "";
    } else if (name === "pStyle") this.#setParagraph(this.#source.styles.get(value() ?? ""));
    else if (name === "rStyle")
      this.#isHidden = this.#source.styles.get(value() ?? "")?.isHidden ?? this.#isHidden;
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
    else if (name === "txbxContent" || name === "rt") this.#openAside();
    else if (name === "oMathPara") this.#hasFormula = false;
    else if (name === "ruby") {
      this.#readings.push("");
      blocks.openRuby();
    }
  }

  close(name: string): void {
    if (this.#unseen) {
      this.#unseen--;
      return;
    }
    this.#alternatives.close(name);
    if (this.#formula) this.#closeFormula(name);
    else this.#closeText(name);
  }

  #closeFormula(name: string): void {
    if (this.#inFormula-- > 0) this.#formula?.close(name);
    else {
      this.#inFormula = 0;
      const text = this.#formula?.end() ?? "";
      this.#formula = null;
      if (text) this.#add(this.#hasFormula && !this.#paragraph ? `\n${text}` : text);
      this.#hasFormula = true;
    }
  }

  #endObject(): void {
    const { hasPicture, isDescribed } = this.#objects.pop() as PageObject;
    const { file, place } = this.#source;
    if (hasPicture && !isDescribed) file.losses.add("picture", place);
  }

  #describe(descr = "", title = ""): void {
    const text = describe({ descr, title });
    const current = this.#objects.at(-1);
    if (!text || !current || current.texts.has(text)) return;
    current.texts.add(text);
    current.isDescribed = true;
    this.#boxes.push(text);
  }

  #chunk(text: string | undefined): void {
    const blocks = this.#blocks;
    blocks.break(2);
    blocks.text(text ?? "");
    blocks.break(2);
  }

  /** The paragraph goes on after the text that is elsewhere. */
  #openAside(): void {
    this.#outer.push([this.#paragraph, this.#isItem, this.#isHeading, this.#boxes]);
    this.#boxes = [];
    this.#blocks.aside();
  }

  #closeAside(): string {
    [this.#paragraph, this.#isItem, this.#isHeading, this.#boxes] = this.#outer.pop() ?? [
      null,
      false,
      false,
      [],
    ];
    return this.#blocks.take();
  }

  #closeText(name: string): void {
    const blocks = this.#blocks;
    this.#forms.close(name);
    if (OBJECTS.has(name)) this.#endObject();
    else if (name === "t") this.#inText = false;
    else if (name === "p") this.#endParagraph();
    else if (name === "tc") blocks.closeCell(this.#cells.pop());
    else if (name === "tr") blocks.closeRow();
    else if (name === "tbl") blocks.closeTable();
    else if (name === "txbxContent") {
      const text = this.#closeAside();
      this.#boxes.push(text);
    } else if (name === "rt") this.#readings.push((this.#readings.pop() ?? "") + this.#closeAside());
    else if (name === "ruby") blocks.closeRuby(this.#readings.pop() ?? "");
  }

  #add(text: string): void {
    if (this.#isHidden) return;
    const paragraph = this.#paragraph;
    this.#paragraph = null;
    if (paragraph?.level) this.#blocks.heading(paragraph.level);
    const mark = paragraph && this.#source.numbering.next(paragraph.list, paragraph.depth);
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
