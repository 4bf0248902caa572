import {
  AlignmentType,
  BorderStyle,
  Document,
  ExternalHyperlink,
  type FileChild,
  HeadingLevel,
  type IParagraphOptions,
  type IStylesOptions,
  LevelFormat,
  Packer,
  Paragraph,
  ShadingType,
  Table,
  TableCell,
  TableLayoutType,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import { read } from "../../services/work/outputs/render/read.ts";
import type { WriteFile } from "../../services/work/outputs/render/render.ts";
import { type Block, type List, type Run, sharedWidths, toBlocks } from "./blocks.ts";
import { byLevel, detectDirection } from "./direction.ts";

/** In twentieths of a point, like all lengths here. */
const GAP = 120;
/** The width between the margins, and of a letter. */
const WIDTH = 9026;
const LETTER = 120;
const CELL_MARGIN = 100;
const MONO = { ascii: "Consolas", hAnsi: "Consolas", cs: "Courier New" };
const RULE = { style: BorderStyle.SINGLE, size: 6, color: "CCCCCC" };
const HEADINGS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
];
const ALIGN = { left: AlignmentType.LEFT, center: AlignmentType.CENTER, right: AlignmentType.RIGHT };

const heading = (points: number) => ({
  run: { bold: true, size: points * 2, color: "1C1C1C" },
  paragraph: { spacing: { before: 2 * GAP, after: GAP }, keepNext: true },
});

const STYLES: IStylesOptions = {
  default: {
    document: {
      run: { font: { ascii: "Calibri", hAnsi: "Calibri", cs: "Arial" }, size: 22 },
      paragraph: { spacing: { after: GAP, line: 276 } },
    },
    heading1: heading(20),
    heading2: heading(16),
    heading3: heading(13.5),
    heading4: heading(12),
    heading5: heading(11),
    heading6: heading(11),
  },
};

/** Renders Markdown as a Word document. */
export function renderDocx(markdown: string, title: string): Promise<Buffer> {
  const lists = new DocxLists();
  const children = toBlocks(read(markdown, title)).flatMap((block) => toChildren(block, lists));
  const document = new Document({ title, creator: "Sensorium", styles: STYLES, sections: [{ children }] });
  return Packer.toBuffer(document);
}

function toChildren(block: Block, lists: DocxLists): FileChild[] {
  switch (block.kind) {
    case "heading":
      return [directed(block.runs, { heading: HEADINGS[block.depth - 1] })];
    case "paragraph":
      return [paragraph(block, lists)];
    case "code":
      return [code(block)];
    case "table":
      // Separates consecutive tables, which Word would merge, and adds space below.
      return [table(block), new Paragraph({ spacing: { after: 0 } })];
    case "rule":
      return [new Paragraph({ border: { bottom: RULE } })];
  }
}

const joinText = (runs: Run[]) => runs.map(({ text }) => text).join("");

/** Creates a paragraph in the direction of its first letter. */
function directed(runs: Run[], options: Omit<IParagraphOptions, "children">, marker?: string): Paragraph {
  const { isRightToLeft } = detectDirection(joinText(runs));
  const children = runs.flatMap(toRuns);
  return new Paragraph({
    ...options,
    ...(isRightToLeft && { bidirectional: true }),
    children: marker === undefined ? children : [new TextRun({ text: `${marker}\t` }), ...children],
  });
}

function paragraph(block: Block & { kind: "paragraph" }, lists: DocxLists): Paragraph {
  const { runs, indent, quoted, item } = block;
  const start = indent * INDENT;
  if (!item) {
    const side = detectDirection(joinText(runs)).isRightToLeft ? "right" : "left";
    const bar = { border: { [side]: { ...RULE, size: 18, space: 8 } } };
    return directed(runs, { indent: { start }, ...(quoted > 0 && bar) });
  }
  const numbering = lists.numberingOf(item);
  const isAtItsLevel = numbering?.level === indent - 1;
  const options = {
    spacing: { after: GAP / 2 },
    ...(!isAtItsLevel && { indent: { start, hanging: INDENT } }),
  };
  if (numbering) return directed(runs, { ...options, numbering });
  return directed(runs, { ...options, tabStops: [{ type: "left", position: start }] }, item.marker);
}

function code({ text, indent }: Block & { kind: "code" }): Paragraph {
  const children = text
    .split("\n")
    .map((line, at) => new TextRun({ text: line, font: MONO, size: 18, ...(at > 0 && { break: 1 }) }));
  const shading = { type: ShadingType.CLEAR, fill: "F4F4F4", color: "auto" };
  return new Paragraph({ indent: { left: indent * INDENT }, shading, spacing: { line: 252 }, children });
}

function toRuns(run: Run): (TextRun | ExternalHyperlink)[] {
  const { text, href } = run;
  if (text === "\n") return [new TextRun({ break: 1 })];
  const style = { ...styleOf(run), ...(href && { style: "Hyperlink" }) };
  const children = [...byLevel(text, detectDirection(text).levels)].map(
    ([part, level]) => new TextRun({ ...style, text: part, ...(level & 1 && { rightToLeft: true }) }),
  );
  return href ? [new ExternalHyperlink({ link: href, children })] : children;
}

function styleOf({ bold, italic, strike, code }: Run) {
  return {
    ...(bold && { bold, boldComplexScript: true }),
    ...(italic && { italics: true, italicsComplexScript: true }),
    ...(strike && { strike }),
    ...(code && { font: MONO }),
  };
}

function table({ rows, align }: Block & { kind: "table" }): Table {
  const head = rows[0] ?? [];
  const columnWidths = measureColumns(rows);
  return new Table({
    ...{ columnWidths, layout: TableLayoutType.FIXED },
    width: { size: columnWidths.reduce((sum, width) => sum + width, 0), type: WidthType.DXA },
    borders: {
      ...{ top: RULE, bottom: RULE, left: RULE, right: RULE },
      ...{ insideHorizontal: RULE, insideVertical: RULE },
    },
    margins: { top: 60, bottom: 60, left: CELL_MARGIN, right: CELL_MARGIN },
    ...(detectDirection(head.map(joinText).join(" ")).isRightToLeft && { visuallyRightToLeft: true }),
    rows: rows.map(
      (cells, at) =>
        new TableRow({
          ...{ tableHeader: at === 0, cantSplit: true },
          children: cells.map((runs, n) => cell(runs, at === 0, align[n] ?? null)),
        }),
    ),
  });
}

/** Based on the letters of a column's longest line; East Asian ones are twice as wide as Latin ones. */
function measureColumns(rows: Run[][][]): number[] {
  const widest = (n: number) =>
    rows.reduce(
      (most, row) =>
        Math.max(
          most,
          ...joinText(row[n] ?? [])
            .split("\n")
            .map(measureLine),
        ),
      1,
    );
  const wanted = (rows[0] ?? []).map((_, n) => widest(n) * LETTER + 2 * CELL_MARGIN);
  return sharedWidths(wanted, WIDTH).map(Math.floor);
}

const measureLine = (line: string) => line.length + (line.match(/[\u3000-\uffdc]/g)?.length ?? 0);

function cell(runs: Run[], isHead: boolean, align: keyof typeof ALIGN | null): TableCell {
  const shading = { type: ShadingType.CLEAR, fill: "F2F2F2", color: "auto" };
  const alignment = align ? { alignment: ALIGN[align] } : {};
  const children = [directed(runs, { spacing: { after: 0 }, ...alignment })];
  return new TableCell({ children, ...(isHead && { shading }) });
}

/** Indent per level of a list, in twentieths of a point. */
const INDENT = 360;

/** Word's lists have this many levels. */
const LEVELS = 9;
const LARGEST = 32_767;

const BULLETS = ["•", "◦", "▪"];

type Numbering = Exclude<IParagraphOptions["numbering"], false | undefined>;
type Definition = Exclude<Numbering["reference"], string>;

/** Creates Word lists, so that numbering continues when the document is edited. */
class DocxLists {
  readonly #counting = new Map<List, Pick<Numbering, "reference" | "instance">>();

  /** Returns the numbering of an item's paragraph; null for lists that Word does not support. */
  numberingOf({ list, marker }: { list: List; marker: string }): Numbering | null {
    const { depth: level, numbers } = list;
    if (level >= LEVELS || (numbers && numbers.to > LARGEST)) return null;
    if (numbers) return { level, ...this.#countingOf(list, numbers.from) };
    const reference = marker === BULLETS[0] ? BULLETED : allMarked(marker);
    // Lists without numbers share one instance.
    return { level, reference, instance: 0 };
  }

  /** A separate instance per list, so that each counts independently. */
  #countingOf(list: List, from: number) {
    const known = this.#counting.get(list);
    if (known) return known;
    const made = { reference: countedFrom(from, list.depth), instance: this.#counting.size };
    this.#counting.set(list, made);
    return made;
  }
}

const BULLETED = definition("bullets", LevelFormat.BULLET, (level) => ({
  text: BULLETS[level % BULLETS.length] as string,
}));

function allMarked(text: string): Definition {
  return definition(`marked ${text}`, LevelFormat.BULLET, () => ({ text }));
}

/** Items moved to another level count from 1. */
function countedFrom(from: number, depth: number): Definition {
  const name = from === 1 ? "numbers" : `numbers from ${from} on level ${depth}`;
  return definition(name, LevelFormat.DECIMAL, (level) => ({
    text: `%${level + 1}.`,
    start: level === depth ? from : 1,
  }));
}

function definition(
  name: string,
  format: (typeof LevelFormat)[keyof typeof LevelFormat],
  more: (level: number) => { text: string; start?: number },
): Definition {
  const levels = Array.from({ length: LEVELS }, (_, level) => ({
    ...{ level, format, alignment: AlignmentType.LEFT, ...more(level) },
    style: { paragraph: { indent: { start: (level + 1) * INDENT, hanging: INDENT } } },
  }));
  // The library replaces `{reference}` anywhere; this one cannot occur in a line of text.
  return { reference: `\n${name}`, levels };
}

export const write: WriteFile = async (markdown, { title }) => ({ file: await renderDocx(markdown, title) });
