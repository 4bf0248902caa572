import { Blocks } from "../../lib/text/blocks.ts";
import { chartShapes, chartText } from "./chart.ts";
import { readDiagram } from "./diagram.ts";
import { type OfficeFile, readRelations } from "./office.ts";
import { formulaText } from "./omml.ts";
import { symbolText } from "./symbols.ts";
import { attributeOf, childrenOf, type Element, isOn, parseXml, textOf } from "./xml.ts";

/** Elements that are one object of a drawing, each with a description. */
const OBJECTS = new Set(["sp", "pic", "graphicFrame", "cxnSp", "grpSp"]);
const MEDIA = new Set(["videoFile", "audioFile", "wavAudioFile", "quickTimeFile"]);
const FONTS = new Set(["latin", "ea", "cs", "sym"]);

/** A description that a program wrote: the picture's file name. */
const isFileName = (text: string) => /^\S*\.(?:png|jpe?g|gif|bmp|tiff?|[ew]mf|svg|webp)$/i.test(text.trim());

/** Returns the description of a picture or an object; "" if there is none. */
export function describe({ descr = "", title = "" }: Record<string, string>): string {
  const text = descr.trim() || title.trim();
  return isFileName(text) ? "" : text;
}

/** An object while it is read. */
interface Drawn {
  isDescribed: boolean;
  hasPicture: boolean;
  isLeftOut: boolean;
}

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
  const text = new ShapesReader(file, part, options).textOf(root);
  return { text, isHidden: !isOn(show), hasMaster: isOn(showMasterSp) };
}

class ShapesReader {
  readonly #file: OfficeFile;
  readonly #options: Options;
  readonly #relations: ReadonlyMap<string, string>;
  readonly #blocks = new Blocks();
  #object: Drawn | null = null;
  #isTitle = false;
  #font = "";

  constructor(file: OfficeFile, part: string, options: Options) {
    this.#file = file;
    this.#options = options;
    this.#relations = new Map(readRelations(file.archive, part).map((each) => [each.id, each.part]));
  }

  textOf(root: Element): string {
    this.#read(root);
    return this.#blocks.end();
  }

  #read(element: Element): void {
    const { name } = element;
    const read = Object.hasOwn(this.#readers, name) ? this.#readers[name] : undefined;
    if (read) read(element);
    else if (OBJECTS.has(name)) this.#readObject(element);
    else if (FONTS.has(name)) this.#font = element.attributes.typeface ?? this.#font;
    else if (MEDIA.has(name)) this.#lose("media");
    else this.#readAll(element);
  }

  #readAll(element: Element): void {
    for (const child of childrenOf(element)) if (!this.#object?.isLeftOut) this.#read(child);
  }

  /** By the names of elements. Others only contain these. */
  readonly #readers: Record<string, (element: Element) => void> = {
    p: (element) => {
      if (this.#isTitle) this.#blocks.heading(1);
      this.#readAll(element);
      this.#blocks.endBlock(1);
    },
    r: (element) => {
      this.#font = "";
      this.#readAll(element);
    },
    t: (element) => this.#blocks.text(symbolText(textOf(element), this.#font)),
    oMath: (element) => this.#blocks.text(formulaText(element)),
    br: () => this.#blocks.lineBreak(),
    // Fields that count pages or tell the time of reading.
    fld: (element) => /^(?:slidenum|datetime)/i.test(element.attributes.type ?? "") || this.#readAll(element),
    txBody: (element) => {
      this.#readAll(element);
      this.#blocks.break(2);
    },
    tbl: (element) => {
      this.#blocks.openTable();
      this.#readAll(element);
      this.#blocks.closeTable();
    },
    tr: (element) => {
      this.#blocks.openRow();
      this.#readAll(element);
      this.#blocks.closeRow();
    },
    // A merged cell is followed by those that it covers, which are empty.
    tc: (element) => {
      this.#blocks.openCell();
      this.#readAll(element);
      this.#blocks.closeCell();
    },
    cNvPr: (element) => this.#describe(element),
    decorative: ({ attributes }) => isOn(attributes.val) && this.#note({ isDescribed: true }),
    ph: ({ attributes: { type } }) => {
      this.#isTitle = type === "title" || type === "ctrTitle";
      if (this.#options.isLayout) this.#note({ isLeftOut: true });
    },
    blip: () => this.#note({ hasPicture: true }),
    // A picture before the items of a list.
    buBlip: () => {},
    relIds: (element) => this.#include(readDiagram, attributeOf(element, "dm")),
    chart: (element) => this.#include(readChart, attributeOf(element, "id")),
    oleObj: () => this.#lose("embedded object"),
    contentPart: () => this.#lose("ink"),
    control: () => this.#lose("control"),
  };

  #readObject(element: Element): void {
    const outer = this.#object;
    const object = { isDescribed: false, hasPicture: false, isLeftOut: false };
    this.#object = object;
    this.#readAll(element);
    if (object.hasPicture && !object.isDescribed && !object.isLeftOut) this.#lose("picture");
    this.#object = outer;
    this.#isTitle = false;
  }

  /** Notes something about the object that is being read. */
  #note(found: Partial<Drawn>): void {
    if (this.#object) Object.assign(this.#object, found);
  }

  #describe(element: Element): void {
    const text = describe(element.attributes);
    if (isOn(element.attributes.hidden ?? "false")) this.#note({ isLeftOut: true });
    else if (text) {
      this.#note({ isDescribed: true });
      this.#paragraph(text);
    }
    this.#readAll(element);
  }

  #include(read: typeof readChart, id = ""): void {
    const part = this.#relations.get(id);
    if (part === undefined) this.#lose("part");
    else this.#paragraph(read(this.#file, part, this.#options.place));
  }

  #paragraph(text: string): void {
    this.#blocks.break(2);
    this.#blocks.text(text);
    this.#blocks.break(2);
  }

  #lose(kind: string): void {
    this.#file.losses.add(kind, this.#options.place);
    this.#note({ isDescribed: true });
  }
}

/** Returns the text of a chart, and that of the shapes drawn over it. */
export function readChart(file: OfficeFile, part: string, place: string): string {
  const shapes = chartShapes(file, part);
  const texts = [chartText(file, part)];
  if (shapes && file.archive.has(shapes)) texts.push(readShapes(file, shapes, { place }).text);
  return texts.filter(Boolean).join("\n\n");
}
