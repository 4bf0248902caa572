import { Blocks } from "../../lib/text/blocks.ts";
import { chartShapes, chartText } from "./chart.ts";
import { readDiagram } from "./diagram.ts";
import { type OfficeFile, type Relation, readRelations } from "./office.ts";
import { formulaText } from "./omml.ts";
import { symbolText } from "./symbols.ts";
import { attributeOf, childrenOf, type Element, isOn, parseXml, textOf } from "./xml.ts";

/** How an element is read; `value` is its attribute of this name. */
export type Readers = Record<string, (element: Element, value: string | undefined) => unknown>;

/** An object of a page while it is read. */
interface PageObject {
  /** Descriptions: Word writes the same one twice. */
  texts: Set<string>;
  isDescribed: boolean;
  hasPicture: boolean;
  isLeftOut: boolean;
}

/** Reads the elements of a part, one within the other: what documents and drawings have in common. */
export abstract class ElementReader {
  protected readonly blocks = new Blocks();
  readonly #file: OfficeFile;
  readonly #place: string;
  readonly #relations: ReadonlyMap<string, string>;
  #object: PageObject | null = null;

  /** @param place name of the part, for what is not read */
  constructor(file: OfficeFile, place: string, relations: readonly Relation[]) {
    this.#file = file;
    this.#place = place;
    this.#relations = new Map(relations.map(({ id, part }) => [id, part]));
  }

  /** Names of elements that are one object each, with a description. */
  protected abstract readonly objects: ReadonlySet<string>;
  /** By the names of elements. Others only contain these. */
  protected abstract readonly readers: Readers;
  /** Shows a text that stands by itself: a description, a chart. */
  protected abstract showApart(text: string): void;

  protected readonly common: Readers = {
    tbl: (element) => {
      this.blocks.openTable();
      this.readAll(element);
      this.blocks.closeTable();
    },
    tr: (element) => {
      this.blocks.openRow();
      this.readAll(element);
      this.blocks.closeRow();
    },
    cNvPr: (element) => this.describe(element),
    decorative: (_, value) => isOn(value) && this.note({ isDescribed: true }),
    blip: () => this.note({ hasPicture: true }),
    chart: (element) => this.#include(readChart, attributeOf(element, "id")),
    relIds: (element) => this.#include(readDiagram, attributeOf(element, "dm")),
    contentPart: () => this.lose("ink"),
    control: () => this.lose("control"),
  };

  protected read(element: Element): void {
    const { name } = element;
    const read = Object.hasOwn(this.readers, name) ? this.readers[name] : undefined;
    if (read) read(element, attributeOf(element, "val"));
    else if (this.objects.has(name)) this.#readObject(element);
    else this.readAll(element);
  }

  protected readAll(element: Element): void {
    for (const child of childrenOf(element)) if (!this.#object?.isLeftOut) this.read(child);
  }

  #readObject(element: Element): void {
    const outer = this.#object;
    const object = { texts: new Set<string>(), isDescribed: false, hasPicture: false, isLeftOut: false };
    this.#object = object;
    this.readAll(element);
    if (object.hasPicture && !object.isDescribed && !object.isLeftOut) this.lose("picture");
    this.#object = outer;
  }

  /** Notes something about the object that is being read. */
  protected note(found: Partial<PageObject>): void {
    if (this.#object) Object.assign(this.#object, found);
  }

  protected lose(kind: string): void {
    this.#file.losses.add(kind, this.#place);
    this.note({ isDescribed: true });
  }

  /** Shows the description of the object that is being read, by the attributes that have it. */
  protected describe(element: Element, names: readonly string[] = ["descr", "title"]): void {
    const texts = names.map((name) => attributeOf(element, name)?.trim() ?? "");
    const text = texts.find(Boolean) ?? "";
    if (text && !isFileName(text) && this.#object && !this.#object.texts.has(text)) {
      this.#object.texts.add(text);
      this.note({ isDescribed: true });
      this.showApart(text);
    }
    this.readAll(element);
  }

  #include(read: typeof readChart, id = ""): void {
    const part = this.#relations.get(id);
    if (part === undefined) this.lose("part");
    else this.showApart(read(this.#file, part, this.#place));
  }
}

/** A description that a program wrote: the picture's file name. */
const isFileName = (text: string) => /^\S*\.(?:png|jpe?g|gif|bmp|tiff?|[ew]mf|svg|webp)$/i.test(text);

interface Options {
  /** Name of the place for what is not read. */
  place: string;
  /** Leaves out the shapes that slides fill in: a layout shows its own text only. */
  isLayout?: boolean;
}

/** Text of a slide, a layout, notes, or the drawing of a sheet or a chart. */
interface Shapes {
  text: string;
  isHidden: boolean;
  /** Shows the shapes of the part that it is made after. */
  hasMaster: boolean;
}

export function readShapes(file: OfficeFile, part: string, options: Options): Shapes {
  const root = parseXml(file.archive.require(part));
  const { show, showMasterSp } = root.attributes;
  const text = new ShapesReader(file, part, options).textFrom(root);
  return { text, isHidden: !isOn(show), hasMaster: isOn(showMasterSp) };
}

const FONTS = new Set(["latin", "ea", "cs", "sym"]);

class ShapesReader extends ElementReader {
  readonly #isLayout: boolean;
  #isTitle = false;
  #font = "";

  constructor(file: OfficeFile, part: string, { place, isLayout = false }: Options) {
    super(file, place, readRelations(file.archive, part));
    this.#isLayout = isLayout;
  }

  textFrom(root: Element): string {
    this.read(root);
    return this.blocks.end();
  }

  protected readonly objects = new Set(["sp", "pic", "graphicFrame", "cxnSp", "grpSp"]);

  protected readonly readers: Readers = {
    ...this.common,
    p: (element) => {
      if (this.#isTitle) this.blocks.heading(1);
      this.readAll(element);
      this.blocks.endBlock(1);
    },
    r: (element) => {
      this.#font = "";
      this.readAll(element);
    },
    t: (element) => this.blocks.text(symbolText(textOf(element), this.#font)),
    oMath: (element) => this.blocks.text(formulaText(element)),
    br: () => this.blocks.lineBreak(),
    // Fields that count pages or tell the time of reading.
    fld: (element) => /^(?:slidenum|datetime)/i.test(element.attributes.type ?? "") || this.readAll(element),
    txBody: (element) => {
      this.readAll(element);
      this.blocks.break(2);
    },
    // A merged cell is followed by those that it covers, which are empty.
    tc: (element) => {
      this.blocks.openCell();
      this.readAll(element);
      this.blocks.closeCell();
    },
    cNvPr: (element) => {
      if (isOn(element.attributes.hidden ?? "false")) this.note({ isLeftOut: true });
      else this.describe(element);
    },
    ph: ({ attributes: { type } }) => {
      this.#isTitle = type === "title" || type === "ctrTitle";
      if (this.#isLayout) this.note({ isLeftOut: true });
    },
    // A picture before the items of a list.
    buBlip: () => {},
    oleObj: () => this.lose("embedded object"),
    videoFile: () => this.lose("media"),
    audioFile: () => this.lose("media"),
    wavAudioFile: () => this.lose("media"),
    quickTimeFile: () => this.lose("media"),
  };

  protected override read(element: Element): void {
    const { name, attributes } = element;
    if (this.objects.has(name)) this.#isTitle = false;
    if (FONTS.has(name)) this.#font = attributes.typeface ?? this.#font;
    else super.read(element);
  }

  protected showApart(text: string): void {
    this.blocks.break(2);
    this.blocks.text(text);
    this.blocks.break(2);
  }
}

/** Returns the text of a chart, and that of the shapes drawn over it. */
function readChart(file: OfficeFile, part: string, place: string): string {
  const shapes = chartShapes(file, part);
  const texts = [chartText(file, part)];
  if (shapes && file.archive.has(shapes)) texts.push(readShapes(file, shapes, { place }).text);
  return texts.filter(Boolean).join("\n\n");
}
