import { type Block, type Run, sharedWidths } from "./blocks.ts";
import { detectDirection } from "./direction.ts";
import type { Line } from "./pdf-lines.ts";
import { MARGIN, type Sheet } from "./pdf-sheet.ts";

const SIZE = 9.5;
const PADDING = 5;
const RULE = "#c8c8c8";
const HEAD = "#f2f2f2";
/** A row is not split if this many of its lines fit on one page. */
const KEPT = 6;

type Table = Block & { kind: "table" };

interface Column {
  left: number;
  width: number;
  align: Table["align"][number];
}

/** The lines of each cell of a row. */
type Row = Line[][];

/** Draws a table; repeats its head on every page. */
export function drawTable(sheet: Sheet, table: Table): void {
  const columns = makeColumns(sheet, table);
  const [head, ...body] = table.rows;
  if (!head) return;
  const top = makeRow(sheet, columns, head);
  const drawHead = () => drawRow(sheet, columns, top, () => sheet.turn(), HEAD);
  const isLow = measureRow(sheet, top) < sheet.heightOf(KEPT, SIZE);
  sheet.need(measureRow(sheet, top) + sheet.heightOf(2, SIZE));
  drawHead();
  for (const row of body) {
    drawRow(sheet, columns, makeRow(sheet, columns, row), () => {
      sheet.turn();
      if (isLow) drawHead();
    });
  }
}

function makeColumns(sheet: Sheet, { rows, align }: Table): Column[] {
  const head = rows[0] ?? [];
  const { isRightToLeft } = detectDirection(head.flatMap((cell) => cell.map(({ text }) => text)).join(" "));
  const widths = sharedWidths(
    head.map((_, n) => rows.reduce((most, row) => Math.max(most, widest(sheet, row[n] ?? [])), 0)),
    sheet.width,
  );
  let at = 0;
  return widths.map((width, n) => {
    const left = MARGIN + (isRightToLeft ? sheet.width - at - width : at);
    at += width;
    return { left, width, align: align[n] ?? null };
  });
}

/** Returns the width of a cell with unbroken lines. */
function widest(sheet: Sheet, runs: Run[]): number {
  const lines = sheet.lines(runs, SIZE, Number.POSITIVE_INFINITY);
  return lines.reduce((most, { width }) => Math.max(most, width), 0) + 2 * PADDING + 1;
}

function makeRow(sheet: Sheet, columns: Column[], cells: Run[][]): Row {
  return columns.map(({ width }, n) => sheet.lines(cells[n] ?? [], SIZE, width - 2 * PADDING));
}

const linesIn = (row: Row) => row.reduce((most, lines) => Math.max(most, lines.length), 1);

function measureRow(sheet: Sheet, row: Row): number {
  return sheet.heightOf(linesIn(row), SIZE) + 2 * PADDING;
}

/** @param turn begins the next page */
function drawRow(sheet: Sheet, columns: Column[], row: Row, turn: () => void, fill?: string): void {
  const count = linesIn(row);
  const fitting = () => Math.floor((sheet.left - 2 * PADDING) / sheet.heightOf(1, SIZE));
  for (let done = 0; done < count; ) {
    if (fitting() < Math.min(count - done, KEPT)) turn();
    const some = Math.max(1, Math.min(count - done, fitting()));
    const part = row.map((lines) => lines.slice(done, done + some));
    drawPart(sheet, columns, part, sheet.heightOf(some, SIZE) + 2 * PADDING, fill);
    done += some;
  }
}

function drawPart(sheet: Sheet, columns: Column[], row: Row, height: number, fill?: string): void {
  const top = sheet.y;
  for (const { left, width } of columns) {
    if (fill) sheet.pdf.rect(left, top, width, height).fill(fill);
    sheet.pdf.rect(left, top, width, height).lineWidth(0.5).stroke(RULE);
  }
  for (const [n, { left, width, align }] of columns.entries()) {
    sheet.y = top + PADDING;
    sheet.writeAll(row[n] ?? [], left + PADDING, width - 2 * PADDING, { size: SIZE, align });
  }
  sheet.y = top + height;
}
