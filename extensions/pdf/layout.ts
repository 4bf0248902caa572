import { markdownTable } from "../../lib/text/blocks.ts";

/** A run of text as a page draws it, in the frame of its direction: `start` and `end` along the line, `base` upwards. */
export interface Run {
  text: string;
  start: number;
  end: number;
  base: number;
  size: number;
  /** Its place in the file. */
  order: number;
  /** The level of the heading that it is part of, and the id of that heading. */
  heading?: { id: string; level: number };
  spaceBefore?: boolean;
}

/** Neighbouring runs of one line. */
interface Segment {
  runs: Run[];
  start: number;
  end: number;
  base: number;
  size: number;
}

/** Segments with the same base line, by their start. */
type Row = Segment[];

// Distances in multiples of the size of the text.
/** A wider gap between runs is a space. */
const SPACE = 0.1;
/** Neighbours overlap by less. */
const TOUCH = 0.2;
/** A wider gap within a line divides it. */
const GUTTER = 1;
/** Bases of one line differ by less, but for raised and lowered text. */
const SAME_BASE = 0.25;
const RAISED = 0.6;
/** Text that is drawn again is this close to itself: bold by a second stroke, shadows. */
const REPEATED = 0.15;
/** A gap between lines from which on a paragraph begins, or a block ends. */
const PARAGRAPH = 1.7;
const BLOCK_END = 4;
/** Lines of columns of text have as many words, and are as long. */
const PROSE_WORDS = 2.5;
const PROSE_EMS = 6;
const MAX_WORDS_OF_CELL = 3;
/** Marks of list items stand apart from their text. */
const ITEM_GAP = 4;
const ITEM = /^(?:[•◦▪▫‣●○■□·*–—-]|\(?(?:\d{1,3}|[ivxlc]{1,5}|[a-z])[.)])$/i;
const RTL = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Accents that are drawn over a letter, and the marks that combine with it. */
const ACCENTS: Record<string, string> = {
  "`": "\u0300",
  "´": "\u0301",
  ˆ: "\u0302",
  "˜": "\u0303",
  "¯": "\u0304",
  "¨": "\u0308",
  "˚": "\u030a",
  ˇ: "\u030c",
  "¸": "\u0327",
};
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** More runs than a page of text has are not searched for repetitions. */
const MAX_RUNS = 20_000;
/** More rows than a page of text has are not searched for columns. */
const MAX_ROWS = 300;

/** Returns the text of runs that have one direction, as they stand on the page. */
export function layOut(given: Run[]): string {
  const runs = given.length > MAX_RUNS ? given : withoutRepeated(given);
  const rows = toRows(runs);
  const isRtl = runs.filter(({ text }) => RTL.test(text)).length > runs.length / 2;
  const page = new PageText(isRtl);
  page.add(rows);
  return page.end();
}

/** Drops runs that show what stands in their place already. */
function withoutRepeated(runs: Run[]): Run[] {
  const kept = new Set<Run>();
  const near = new Map<number, Run[]>();
  const cell = (base: number) => Math.round(base / 4);
  for (const run of runs) {
    const reach = Math.ceil((REPEATED * run.size) / 4);
    const at = cell(run.base);
    let rest: Run | undefined = run;
    for (let i = at - reach; rest && i <= at + reach; i++)
      for (const other of near.get(i) ?? []) {
        if (!rest || !kept.has(other) || Math.abs(other.base - rest.base) > REPEATED * rest.size) continue;
        if (isWithin(other, rest)) kept.delete(other);
        else rest = isWithin(rest, other) ? undefined : unrepeated(other, rest);
      }
    if (!rest) continue;
    kept.add(rest);
    const others = near.get(at);
    if (others) others.push(rest);
    else near.set(at, [rest]);
  }
  return [...kept];
}

/** Whether a run stands within another, in its place in it. */
function isWithin(run: Run, other: Run): boolean {
  const slack = REPEATED * run.size;
  if (run.start < other.start - slack || run.end > other.end + slack) return false;
  const width = (other.end - other.start) / (other.text.length || 1);
  const text = run.text.trim();
  for (let i = other.text.indexOf(text); i >= 0; i = other.text.indexOf(text, i + 1))
    if (Math.abs(other.start + i * width - run.start) <= slack + width * Math.min(3, i)) return true;
  return false;
}

/** Returns a run without the characters at its start that the end of another shows: letters that are drawn twice in turn. */
function unrepeated(other: Run, run: Run): Run {
  const overlap = other.end - run.start;
  if (overlap < REPEATED * run.size || run.start < other.start || run.end < other.end) return run;
  const width = (run.end - run.start) / run.text.length;
  const count = Math.max(1, Math.round(overlap / width));
  for (const length of [count, count - 1, count + 1]) {
    const shown = run.text.slice(0, length);
    if (length > 0 && length < run.text.length && other.text.endsWith(shown))
      return { ...run, text: run.text.slice(length), start: other.end, spaceBefore: false };
  }
  return run;
}

/** Returns the rows of a page from its top, whatever the order in which the file draws them. */
function toRows(runs: Run[]): Row[] {
  const segments: Segment[] = [];
  for (const run of runs) {
    const last = segments.at(-1);
    if (last && follows(last, run)) append(last, run);
    else segments.push({ ...run, runs: [run] });
  }
  const rows: Row[] = [];
  for (const segment of segments.sort((a, b) => b.base - a.base || a.start - b.start)) {
    const row = rows.at(-1);
    if (row && onOneLine(row[0] as Segment, segment)) row.push(segment);
    else rows.push([segment]);
  }
  return rows.map((row) => {
    const joined: Row = [];
    for (const segment of row.sort((a, b) => a.start - b.start)) {
      const last = joined.at(-1);
      const gap = last ? segment.start - last.end : 0;
      const reach = last && ITEM.test(toText(last)) ? ITEM_GAP : GUTTER;
      if (last && gap <= reach * segment.size) for (const run of segment.runs) append(last, run);
      else joined.push(segment);
    }
    return joined;
  });
}

const onOneLine = (a: { base: number; size: number }, b: { base: number; size: number }) =>
  Math.abs(a.base - b.base) <= SAME_BASE * Math.min(a.size, b.size);

/** Whether a run continues a segment to the right, on its line or as raised or lowered text. */
function follows(segment: Segment, run: Run): boolean {
  const size = Math.max(segment.size, run.size);
  const gap = run.start - segment.end;
  if (gap < -TOUCH * size || gap > GUTTER * Math.min(segment.size, run.size)) return false;
  if (onOneLine(segment, run)) return true;
  const isOther = Math.min(segment.size, run.size) < 0.85 * size;
  return isOther && gap < 2 * TOUCH * size && Math.abs(segment.base - run.base) <= RAISED * size;
}

function append(segment: Segment, run: Run): void {
  segment.runs.push(run);
  segment.start = Math.min(segment.start, run.start);
  segment.end = Math.max(segment.end, run.end);
  if (run.size > segment.size) Object.assign(segment, { base: run.base, size: run.size });
}

function toText({ runs }: Segment): string {
  const isRtl = runs.filter(({ text }) => RTL.test(text)).length * 2 > runs.length;
  const ordered = isRtl ? rightToLeft(runs) : runs.toSorted((a, b) => beginOf(a) - beginOf(b));
  let text = "";
  let last: Run | undefined;
  for (const run of ordered) {
    const gap = last ? Math.max(run.start - last.end, last.start - run.end) : 0;
    const accent = gap < 0 ? ACCENTS[text.at(-1) ?? ""] : undefined;
    if (accent && /^\p{L}/u.test(run.text)) {
      const letter = (run.text[0] as string).replace("ı", "i");
      text = text.slice(0, -1) + (letter + accent).normalize("NFC") + run.text.slice(1);
      last = run;
      continue;
    }
    const isWide = gap > SPACE * Math.min(run.size, last?.size ?? run.size);
    const areUnspaced = UNSPACED.test(text.at(-1) ?? "") && UNSPACED.test(run.text[0] ?? "");
    const isOverlap = last && gap < -REPEATED * 2 * run.size;
    const divides = (run.spaceBefore && !isRtl) || isOverlap || (isWide && !areUnspaced);
    if (last && divides && !text.endsWith(" ") && !run.text.startsWith(" ")) text += " ";
    text += run.text;
    last = run;
  }
  return text.trim();
}

/** An accent alone comes before its letter, though it may be the narrower one. */
const beginOf = ({ text, start, size }: Run) => (ACCENTS[text] ? start - size / 2 : start);

/** Returns runs from right to left, but numbers and words of other scripts within them from left to right. */
function rightToLeft(runs: Run[]): Run[] {
  const ordered: Run[] = [];
  let within: Run[] = [];
  for (const run of runs.toSorted((a, b) => b.start - a.start)) {
    if (/[\p{L}\p{N}]/u.test(run.text) && !RTL.test(run.text)) {
      within.unshift(run);
      continue;
    }
    ordered.push(...within, run);
    within = [];
  }
  return [...ordered, ...within];
}

interface Column {
  start: number;
  end: number;
}

/** Rows that have columns in common. */
interface Block {
  rows: Row[];
  columns: Column[];
}

class PageText {
  readonly #isRtl: boolean;
  readonly #parts: string[] = [];
  #last: Segment | undefined;
  #heading = "";

  constructor(isRtl: boolean) {
    this.#isRtl = isRtl;
  }

  add(rows: Row[]): void {
    for (let at = 0; at < rows.length; ) {
      const block = trimmed(blockFrom(rows, at));
      const isTable = block !== null && isTableOf(block);
      if (!block || (!isTable && !areColumns(block))) this.#addRow(rows[at++] as Row);
      else {
        const lead = rows.indexOf(block.rows[0] as Row);
        while (at < lead) this.#addRow(rows[at++] as Row);
        at += block.rows.length;
        if (isTable) this.#addTable(block);
        else this.#addColumns(block);
      }
    }
  }

  end(): string {
    return this.#parts.join("");
  }

  #addRow(row: Row): void {
    for (const segment of this.#isRtl ? row.toReversed() : row) {
      const { base, size } = segment;
      const last = this.#last;
      if (last && last.base === (row[0] as Segment).base && row.includes(last)) this.#parts.push(" ");
      else if (last)
        this.#parts.push(last.base - base > PARAGRAPH * size || base > last.base + size ? "\n\n" : "\n");
      const { id = "", level = 0 } = segment.runs[0]?.heading ?? {};
      if (id !== this.#heading && id) this.#parts.push("\n\n", "#".repeat(level), " ");
      this.#heading = id;
      this.#parts.push(toText(segment));
      this.#last = segment;
    }
  }

  #addTable(block: Block): void {
    const cells = block.rows.map((row) => {
      const texts = block.columns.map((column) =>
        row
          .filter((each) => isIn(column, each))
          .map(toText)
          .join(" "),
      );
      return this.#isRtl ? texts.reverse() : texts;
    });
    this.#parts.push(this.#parts.length ? "\n\n" : "", markdownTable(cells), "\n\n");
    this.#last = undefined;
  }

  #addColumns({ rows, columns }: Block): void {
    for (const column of this.#isRtl ? columns.toReversed() : columns) {
      this.#parts.push(this.#parts.length ? "\n\n" : "");
      this.#last = undefined;
      this.add(inColumn(rows, column));
    }
    this.#parts.push("\n\n");
    this.#last = undefined;
  }
}

const isIn = ({ start, end }: Column, segment: Segment) => segment.start < end && segment.end > start;

const inColumn = (rows: Row[], column: Column): Row[] =>
  rows.map((row) => row.filter((each) => isIn(column, each))).filter((row) => row.length > 0);

/** Returns the rows from here on whose segments share columns: until one crosses two, or two are in one. */
function blockFrom(rows: Row[], from: number): Block {
  const block: Block = { rows: [], columns: [] };
  for (let at = from; at < rows.length && block.rows.length < MAX_ROWS; at++) {
    const row = rows[at] as Row;
    const last = block.rows.at(-1)?.[0];
    if (last && last.base - (row[0] as Segment).base > BLOCK_END * last.size) break;
    const columns = withRow(block.columns, row);
    if (!columns) break;
    block.columns = columns;
    block.rows.push(row);
  }
  return block;
}

function withRow(before: Column[], row: Row): Column[] | null {
  const columns = before.map((column) => ({ ...column }));
  const taken = new Set<Column>();
  for (const segment of row) {
    const { start, end, size } = segment;
    const touched = columns.filter(
      (column) => start < column.end + size / 2 && end > column.start - size / 2,
    );
    const [column = { start, end }] = touched;
    if (touched.length > 1 || taken.has(column)) return null;
    if (touched.length === 0) columns.push(column);
    taken.add(column);
    Object.assign(column, { start: Math.min(column.start, start), end: Math.max(column.end, end) });
  }
  return columns.sort((a, b) => a.start - b.start);
}

/** Leaves out rows at both ends that are text above or below: alone in their line, and at a distance or by a table. */
function trimmed({ rows, columns }: Block): Block | null {
  if (columns.length < 2) return null;
  const isAligned = rows.filter((row) => row.length > 1).length >= 2;
  const isApart = (a: Row, b: Row) => {
    const [upper, lower] = [a[0] as Segment, b[0] as Segment];
    return isAligned || upper.base - lower.base > PARAGRAPH * Math.max(upper.size, lower.size);
  };
  let [from, to] = [0, rows.length - 1];
  while (from < to && rows[from]?.length === 1 && isApart(rows[from] as Row, rows[from + 1] as Row)) from++;
  while (to > from && rows[to]?.length === 1 && isApart(rows[to - 1] as Row, rows[to] as Row)) to--;
  const left = rows.slice(from, to + 1);
  const filled = columns.filter((column) => left.some((row) => row.some((each) => isIn(column, each))));
  return filled.length < 2 ? null : { rows: left, columns: filled };
}

/** Tells a table from columns of text. Whether the file draws one row or one column after the other decides much. */
function isTableOf(block: Block): boolean {
  const { rows, columns } = block;
  const aligned = rows.filter((row) => row.length > 1).length;
  if (aligned < 2 || aligned * 2 < rows.length || (columns.length < 3 && aligned < 3)) return false;
  if (!isDrawnByColumn(block)) return !columns.every((column) => isProse(inColumn(rows, column).flat()));
  const words = rows.flat().reduce((sum, segment) => sum + toText(segment).split(" ").length, 0);
  return columns.length > 2 && aligned === rows.length && words <= MAX_WORDS_OF_CELL * rows.flat().length;
}

function isDrawnByColumn({ rows, columns }: Block): boolean {
  const drawn = rows.flat().sort((a, b) => orderOf(a) - orderOf(b));
  const columnOf = (segment?: Segment) => segment && columns.findIndex((column) => isIn(column, segment));
  return (
    drawn.filter((segment, at) => at && columnOf(segment) !== columnOf(drawn[at - 1])).length < columns.length
  );
}

const orderOf = ({ runs }: Segment) => Math.min(...runs.map(({ order }) => order));

/** Whether the lines of a column are long, and begin within a sentence. */
function isProse(lines: Segment[]): boolean {
  const texts = lines.map(toText);
  const following = texts.slice(1);
  const ems = lines.reduce((sum, { start, end, size }) => sum + (end - start) / size, 0) / lines.length;
  if (following.length === 0 || ems < PROSE_EMS) return false;
  if (texts.some((text) => UNSPACED.test(text) || RTL.test(text))) {
    const longest = Math.max(...lines.map(({ start, end }) => end - start));
    return lines.filter(({ start, end }) => end - start > 0.8 * longest).length * 3 >= lines.length * 2;
  }
  const words = texts.reduce((sum, text) => sum + text.split(/\s+/).length, 0) / texts.length;
  const within = following.filter((text) => /^\P{L}*\p{Ll}/u.test(text)).length;
  return words >= PROSE_WORDS && within * 3 >= following.length;
}

/** Whether two lines or more of each column stand next to the others, and are not parts of the same lines. */
function areColumns(block: Block): boolean {
  const { rows, columns } = block;
  const lines = columns.map((column) => inColumn(rows, column).flat());
  const top = Math.min(...lines.map((each) => each[0]?.base ?? 0));
  const bottom = Math.max(...lines.map((each) => each.at(-1)?.base ?? 0));
  const isNext = ({ base, size }: Segment) => base <= top + size && base >= bottom - size;
  if (!lines.every((each) => each.filter(isNext).length > 1)) return false;
  const aligned = rows.filter((row) => row.length > 1).length;
  return aligned * 2 < rows.length || isDrawnByColumn(block) || lines.every(isProse);
}
