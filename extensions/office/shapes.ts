import { Blocks } from "../../lib/text/blocks.ts";
import { chartShapes, chartText } from "./chart.ts";
import { readDiagram } from "./diagram.ts";
import { Alternatives, isOn, type OfficeFile, readAttribute, readRelations, readXml } from "./office.ts";
import { Formula } from "./omml.ts";
import { symbolText } from "./symbols.ts";

/** Elements that are one object of a drawing, each with a description. */
const OBJECTS = new Set(["sp", "pic", "graphicFrame", "cxnSp", "grpSp"]);
const MEDIA = new Set(["videoFile", "audioFile", "wavAudioFile", "quickTimeFile"]);
/** Kinds of losses by the element that shows what is not read. */
const UNREAD: Record<string, string> = {
  oleObj: "embedded object",
  contentPart: "ink",
  control: "control",
};
const FONTS = new Set(["latin", "ea", "cs", "sym"]);

/** A description that a program wrote: the picture's file name. */
const isFileName = (text: string) => /^\S*\.(?:png|jpe?g|gif|bmp|tiff?|[ew]mf|svg|webp)$/i.test(text.trim());

/** Returns the description of a picture or an object; "" if there is none. */
export function describe({ descr = "", title = "" }: Record<string, string>): string {
  const text = descr.trim() || title.trim();
  return isFileName(text) ? "" : text;
}

interface Shape {
  depth: number;
  isDescribed: boolean;
  hasPicture: boolean;
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
  const reader = new ShapesReader(file, part, options);
  readXml(file.archive.require(part), reader);
  return reader.end();
}

class ShapesReader {
  readonly #file: OfficeFile;
  readonly #options: Options;
  readonly #relations: ReadonlyMap<string, string>;
  readonly #blocks = new Blocks();
  readonly #alternatives = new Alternatives();
  readonly #shapes: Shape[] = [];
  #depth = 0;
  /** Depth of the element that is left out; 0 for none. */
  #unseen = 0;
  #inText = false;
  #isTitle = false;
  #font = "";
  #formula: { at: number; formula: Formula } | null = null;
  #isHidden = false;
  #hasMaster = true;

  constructor(file: OfficeFile, part: string, options: Options) {
    this.#file = file;
    this.#options = options;
    this.#relations = new Map(readRelations(file.archive, part).map((each) => [each.id, each.part]));
  }

  open(name: string, attributes: Record<string, string>): void {
    this.#depth++;
    if (this.#unseen) return;
    if (this.#alternatives.isOther(name) || isLeftOut(name, attributes)) this.#unseen = this.#depth;
    else if (this.#formula) this.#formula.formula.open(name, readAttribute(attributes, "val"));
    else if (name === "oMath") this.#formula = { at: this.#depth, formula: new Formula() };
    else this.#open(name, attributes);
  }

  #open(name: string, attributes: Record<string, string>): void {
    const blocks = this.#blocks;
    if (OBJECTS.has(name)) this.#shapes.push({ depth: this.#depth, isDescribed: false, hasPicture: false });
    else if (name === "cNvPr") this.#describe(attributes);
    else if (name === "decorative" && isOn(attributes.val)) this.#noteDescription();
    else if (name === "sld" || name === "sldLayout") {
      this.#isHidden = !isOn(attributes.show);
      this.#hasMaster = isOn(attributes.showMasterSp);
    } else if (name === "ph") {
      this.#isTitle = attributes.type === "title" || attributes.type === "ctrTitle";
      if (this.#options.isLayout) this.#leaveOut();
    } else if (name === "r") this.#font = "";
    else if (FONTS.has(name)) this.#font = attributes.typeface ?? this.#font;
    else if (name === "p" && this.#isTitle) blocks.heading(1);
    else if (name === "t") this.#inText = true;
    else if (name === "br") blocks.lineBreak();
    else if (name === "tbl") blocks.openTable();
    else if (name === "tr") blocks.openRow();
    // A merged cell is followed by those that it covers, which are empty.
    else if (name === "tc") blocks.openCell();
    else if (name === "blip" || MEDIA.has(name)) this.#picture(name);
    else if (UNREAD[name]) {
      this.#lose(UNREAD[name]);
      this.#unseen = this.#depth;
    } else if (name === "relIds") this.#block(readDiagram, readAttribute(attributes, "dm"));
    else if (name === "chart") this.#block(readChart, readAttribute(attributes, "id"));
  }

  close(name: string): void {
    const depth = this.#depth--;
    if (this.#unseen) {
      if (depth === this.#unseen) this.#unseen = 0;
      if (this.#shapes.at(-1)?.depth === depth) {
        this.#shapes.pop();
        this.#isTitle = false;
      }
      return;
    }
    const blocks = this.#blocks;
    this.#alternatives.close(name);
    if (this.#formula && depth > this.#formula.at) this.#formula.formula.close(name);
    else if (this.#formula) {
      blocks.text(this.#formula.formula.end());
      this.#formula = null;
    } else if (name === "t") this.#inText = false;
    else if (name === "p") blocks.endBlock(1);
    else if (name === "txBody") blocks.break(2);
    else if (name === "tc") blocks.closeCell();
    else if (name === "tr") blocks.closeRow();
    else if (name === "tbl") blocks.closeTable();
    if (this.#shapes.at(-1)?.depth === depth) this.#endShape();
  }

  text(given: string): void {
    if (this.#unseen) return;
    if (this.#formula) this.#formula.formula.text(given);
    else if (this.#inText) this.#blocks.text(symbolText(given, this.#font));
  }

  end(): Shapes {
    return { text: this.#blocks.end(), isHidden: this.#isHidden, hasMaster: this.#hasMaster };
  }

  #endShape(): void {
    const { hasPicture, isDescribed } = this.#shapes.pop() as Shape;
    this.#isTitle = false;
    if (hasPicture && !isDescribed) this.#lose("picture");
  }

  #describe(attributes: Record<string, string>): void {
    const text = describe(attributes);
    if (isOn(attributes.hidden ?? "false")) this.#leaveOut();
    else if (text) {
      this.#noteDescription();
      this.#paragraph(text);
    }
  }

  #noteDescription(): void {
    const shape = this.#shapes.at(-1);
    if (shape) shape.isDescribed = true;
  }

  #picture(name: string): void {
    const shape = this.#shapes.at(-1);
    if (name !== "blip") {
      this.#lose("media");
      this.#noteDescription();
    } else if (shape) shape.hasPicture = true;
  }

  /** Leaves out the object that is being read. */
  #leaveOut(): void {
    this.#unseen = this.#shapes.at(-1)?.depth ?? this.#depth;
  }

  #block(read: (file: OfficeFile, part: string, place: string) => string, id = ""): void {
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
  }
}

/** Returns the text of a chart, and that of the shapes drawn over it. */
export function readChart(file: OfficeFile, part: string, place: string): string {
  const shapes = chartShapes(file, part);
  const texts = [chartText(file, part)];
  if (shapes && file.archive.has(shapes)) texts.push(readShapes(file, shapes, { place }).text);
  return texts.filter(Boolean).join("\n\n");
}

/** Fields that count pages or tell the time of reading, and pictures before the items of a list. */
function isLeftOut(name: string, { type = "" }: Record<string, string>): boolean {
  return (name === "fld" && /^(?:slidenum|datetime)/i.test(type)) || name === "buBlip";
}
