import {
  BorderStyle,
  Document,
  ExternalHyperlink,
  type FileChild,
  HeadingLevel,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import { marked } from "marked";
import { type Block, blocksOf, type Run } from "./blocks.ts";

/** In twentieths of a point. */
const INDENT = 360;
const MONO = "Consolas";
const HEADINGS = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
];

/** Markdown as a document of Word. */
export function renderDocx(markdown: string, title: string): Promise<Buffer> {
  const children = blocksOf(marked.lexer(markdown, { gfm: true })).map(toChild);
  return Packer.toBuffer(new Document({ title, creator: "Afferent", sections: [{ children }] }));
}

function toChild(block: Block): FileChild {
  switch (block.kind) {
    case "heading":
      return new Paragraph({ heading: HEADINGS[block.depth - 1], children: block.runs.map(toRun) });
    case "paragraph":
      return paragraph(block);
    case "code":
      return new Paragraph({ indent: { left: block.indent * INDENT }, children: lines(block.text) });
    case "table":
      return table(block.rows);
    case "rule":
      return new Paragraph({ border: { bottom: { style: BorderStyle.SINGLE, size: 6, color: "CCCCCC" } } });
  }
}

function paragraph({ runs, indent, marker }: Block & { kind: "paragraph" }): Paragraph {
  const children = runs.map(toRun);
  if (marker === undefined) return new Paragraph({ indent: { left: indent * INDENT }, children });
  return new Paragraph({
    indent: { left: indent * INDENT, hanging: INDENT },
    tabStops: [{ type: "left", position: indent * INDENT }],
    children: [new TextRun({ text: `${marker}\t` }), ...children],
  });
}

function lines(text: string): TextRun[] {
  return text
    .split("\n")
    .map((line, at) => new TextRun({ text: line, font: MONO, size: 18, ...(at > 0 && { break: 1 }) }));
}

function toRun({ text, bold, italic, code, strike, href }: Run): TextRun | ExternalHyperlink {
  const style = { ...(bold && { bold }), ...(italic && { italics: italic }), ...(strike && { strike }) };
  const font = code ? { font: MONO } : {};
  if (text === "\n") return new TextRun({ break: 1 });
  if (!href) return new TextRun({ text, ...style, ...font });
  return new ExternalHyperlink({
    link: href,
    children: [new TextRun({ text, ...style, ...font, style: "Hyperlink" })],
  });
}

function table(rows: Run[][][]): Table {
  return new Table({
    width: { size: 100, type: WidthType.PERCENTAGE },
    rows: rows.map((row) => new TableRow({ children: row.map(cell) })),
  });
}

function cell(runs: Run[]): TableCell {
  return new TableCell({ children: [new Paragraph({ children: runs.map(toRun) })] });
}
