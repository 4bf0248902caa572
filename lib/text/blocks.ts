/** A file with more text is data, not a document. */
export const MAX_CHARACTERS = 10_000_000;

/** The text exceeds `MAX_CHARACTERS`. */
export class TooMuchText extends Error {}

/** A position in nested text: the whole document, a table cell, a text box. */
interface Flow {
  parts: string[];
  /** Line breaks due before the next text: 1 ends a line, 2 a paragraph. */
  breaks: number;
  /** Written before the next text, after the breaks: a heading's or an item's mark. */
  mark: string;
  /** A collapsed space is due. */
  space: boolean;
  /** Written after the word that it is the reading of, which may continue. */
  reading: string;
  /** Open words with readings. */
  rubies: number;
}

interface Table {
  rows: string[][];
  /** Columns that cells of earlier rows still cover, with the number of rows. */
  covered: number[];
  /** Contains a table: it arranges a page and is no table of values. */
  isLayout: boolean;
}

const newFlow = (): Flow => ({ parts: [], breaks: 0, mark: "", space: false, reading: "", rubies: 0 });
/** The limit of HTML; a wider cell is an attack. */
const MAX_SPAN = 1000;
const MAX_COLUMNS = 16_384;

/** Collects the text of a document with its structure as Markdown: headings, items of lists, tables. */
export class Blocks {
  readonly #flows: Flow[] = [newFlow()];
  readonly #tables: Table[] = [];
  #length = 0;

  /** Adds text as it is. @throws TooMuchText */
  text(value: string): void {
    if (value === "") return;
    const flow = this.#flow;
    const { breaks, mark, space } = flow;
    if (!flow.rubies || breaks || mark || space) this.#endReading(flow);
    Object.assign(flow, { breaks: 0, mark: "", space: false });
    if (flow.parts.length) flow.parts.push("\n".repeat(breaks));
    flow.parts.push(mark, space && !breaks && flow.parts.length && !mark ? " " : "", value);
    this.#length += value.length;
    if (this.#length > MAX_CHARACTERS) throw new TooMuchText();
  }

  /** Adds text whose white space is collapsed, as in HTML. Spaces of all widths divide words. */
  collapsed(value: string): void {
    const words = value.replace(/[^\S\ufeff]+/g, " ");
    if (words.startsWith(" ")) this.#flow.space = true;
    this.text(words.trim());
    if (words.endsWith(" ") && words !== " ") this.#flow.space = true;
  }

  /** Ends the line, or with 2 the paragraph. */
  break(breaks: 1 | 2): void {
    this.#flow.breaks = Math.max(this.#flow.breaks, breaks);
    this.#flow.space = false;
  }

  /** Adds an empty line even where text begins: `<br>`. */
  lineBreak(): void {
    this.#flow.breaks = Math.min(2, this.#flow.breaks + 1);
    this.#flow.space = false;
  }

  heading(level: number): void {
    this.break(2);
    this.#flow.mark = this.#tables.length ? "" : `${"#".repeat(Math.min(6, Math.max(1, level)))} `;
  }

  /** Begins an item of a list. @param mark such as `-` or `2.` */
  item(mark: string, depth = 0): void {
    this.break(1);
    // A numbered heading keeps its level.
    const heading = this.#flow.mark.startsWith("#") ? this.#flow.mark : "";
    this.#flow.mark = `${heading}${"  ".repeat(Math.min(depth, 8))}${mark} `;
  }

  /** Drops a mark without text. */
  endBlock(breaks: 1 | 2): void {
    this.#flow.mark = "";
    this.break(breaks);
  }

  /** Begins a word, or a part of one, with a reading. */
  openRuby(): void {
    this.#flow.rubies++;
  }

  /** Ends it. The readings of parts that follow each other stand after the whole word. */
  closeRuby(reading: string): void {
    const flow = this.#flow;
    flow.rubies = Math.max(0, flow.rubies - 1);
    flow.reading += reading;
    if (flow.rubies) this.#endReading(flow);
  }

  /** Begins text whose place is elsewhere; `take` ends it. */
  aside(): void {
    this.#flows.push(newFlow());
  }

  /** Ends an aside and returns its text. */
  take(): string {
    const flow = this.#flows.length > 1 ? this.#flows.pop() : undefined;
    if (flow) this.#endReading(flow);
    const text = flow?.parts.join("") ?? "";
    this.#length -= text.length;
    return text;
  }

  openTable(): void {
    for (const table of this.#tables) table.isLayout = true;
    this.#tables.push({ rows: [], covered: [], isLayout: false });
  }

  openRow(): void {
    const table = this.#tables.at(-1);
    if (!table) return;
    table.rows.push([]);
    this.#skipCovered(table);
  }

  /** Begins a cell; `closeCell` ends it. */
  openCell(): void {
    if (this.#tables.length) this.aside();
  }

  closeCell(columns = 1, rows = 1): void {
    const table = this.#tables.at(-1);
    if (!table) return;
    const text = this.take();
    if (table.rows.length === 0) table.rows.push([]);
    const row = table.rows.at(-1) as string[];
    const span = Math.min(MAX_SPAN, Math.max(1, columns), Math.max(1, MAX_COLUMNS - row.length));
    for (let i = 0; i < span; i++) {
      if (rows > 1) table.covered[row.length] = rows;
      row.push(i === 0 ? text : "");
    }
    this.#skipCovered(table);
  }

  closeRow(): void {
    const { covered, rows } = this.#tables.at(-1) ?? {};
    covered?.forEach((left, column) => {
      covered[column] = left - 1;
    });
    if (rows?.at(-1)?.every((text) => text === "")) rows.pop();
  }

  closeTable(): void {
    const table = this.#tables.pop();
    if (!table?.rows.length) return;
    this.break(2);
    const { rows } = table;
    if (table.isLayout || rows.every((row) => row.length === 1)) {
      for (const text of rows.flat()) {
        this.text(text);
        this.break(2);
      }
    } else this.text(markdownTable(rows));
    this.break(2);
  }

  end(): string {
    while (this.#tables.length) {
      while (this.#flows.length > 1) this.closeCell();
      this.closeTable();
    }
    const whole = this.#flows[0] as Flow;
    this.#endReading(whole);
    return whole.parts.join("");
  }

  #endReading(flow: Flow): void {
    if (!flow.reading) return;
    const text = `(${flow.reading})`;
    flow.parts.push(text);
    flow.reading = "";
    this.#length += text.length;
  }

  get #flow(): Flow {
    return this.#flows.at(-1) as Flow;
  }

  #skipCovered({ rows, covered }: Table): void {
    const row = rows.at(-1) as string[];
    while ((covered[row.length] ?? 0) > 0) row.push("");
  }
}

/** Returns rows as a Markdown table, the first as its header. Cells are one line each. */
export function markdownTable(rows: readonly string[][]): string {
  const [header = [], ...others] = rows.map((row) => row.map(inOneLine));
  const width = Math.max(header.length, others.length ? 1 : 0);
  const lines = [header, Array(width).fill("---"), ...others];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** White space becomes single spaces, and what would divide cells is escaped. */
export const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");
