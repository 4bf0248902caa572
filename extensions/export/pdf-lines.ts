import { asSeen, byLevel, detectDirection, mirrored } from "./direction.ts";

/** A piece of text in one font and style. */
export interface Piece {
  text: string;
  font: string;
  /** The text is bold or italic, but the font is not. */
  thickened: boolean;
  slanted: boolean;
  strike: boolean;
  href: string | null;
}

/** A piece with its position on a line. */
export interface Placed extends Piece {
  width: number;
  level: number;
}

/** A line's pieces from left to right, as displayed. */
export interface Line {
  pieces: Placed[];
  width: number;
  isRightToLeft: boolean;
}

export type Measure = (piece: Piece, text: string) => number;

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SPACES = " \\t\\r\\f\\v\\u1680\\u2000-\\u2006\\u2008-\\u200b\\u205f\\u3000";
const WORD = new RegExp(`[^${SPACES}]+[${SPACES}]*|[${SPACES}]+`, "gu");
const TRAILING = new RegExp(`[${SPACES}]+$`, "u");
const OPENING = /[\p{Ps}\p{Pi}]$/u;
const words = new Intl.Segmenter(undefined, { granularity: "word" });
const graphemes = new Intl.Segmenter();

type Span = [start: number, end: number];

/** Breaks a paragraph's pieces into lines no wider than `width`; returns at least one. */
export function breakLines(pieces: readonly Piece[], width: number, measure: Measure): Line[] {
  const text = pieces.map((piece) => piece.text).join("");
  const { isRightToLeft, levels } = detectDirection(text);
  const paragraph = new Paragraph(pieces, measure, levels);
  const lines: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    for (const span of filled(text.slice(start, end), width, paragraph.from(start))) {
      const placed = paragraph.place(start + span[0], start + span[1]);
      const used = placed.reduce((sum, piece) => sum + piece.width, 0);
      lines.push({ pieces: asSeen(placed), width: used, isRightToLeft });
    }
    start = end + 1;
  }
  return lines;
}

/** The pieces of a paragraph, by position in its text. */
class Paragraph {
  readonly #pieces: readonly Piece[];
  readonly #starts: number[] = [];
  readonly #measure: Measure;
  readonly #levels: Uint8Array | null;
  #last = 0;

  constructor(pieces: readonly Piece[], measure: Measure, levels: Uint8Array | null) {
    this.#pieces = pieces;
    this.#measure = measure;
    this.#levels = levels;
    let start = 0;
    for (const { text } of pieces) {
      this.#starts.push(start);
      start += text.length;
    }
  }

  /** Returns a function that measures parts of the text, with positions relative to `base`. */
  from(base: number): (start: number, end: number) => number {
    return (start, end) => {
      let width = 0;
      for (const [piece, text] of this.#within(base + start, base + end)) width += this.#measure(piece, text);
      return width;
    };
  }

  place(start: number, end: number): Placed[] {
    return [...this.#within(start, end)].flatMap(([piece, text, at]) =>
      [...byLevel(text, this.#levels, at)].map(([part, level]) => {
        const shown = level & 1 ? mirrored(part) : part;
        return { ...piece, text: shown, level, width: this.#measure(piece, part) };
      }),
    );
  }

  *#within(start: number, end: number): Generator<[piece: Piece, text: string, at: number]> {
    // Most lookups are after the previous one.
    if ((this.#starts[this.#last] ?? 0) > start) this.#last = 0;
    while ((this.#starts[this.#last + 1] ?? Infinity) <= start) this.#last++;
    for (let n = this.#last; n < this.#pieces.length; n++) {
      const first = this.#starts[n] as number;
      if (first >= end) return;
      const piece = this.#pieces[n] as Piece;
      const from = Math.max(start, first);
      const text = piece.text.slice(from - first, end - first);
      if (text) yield [piece, text, from];
    }
  }
}

/** Yields the start and end of each line, without trailing spaces. */
function* filled(text: string, width: number, widthOf: (start: number, end: number) => number) {
  let start = 0;
  let end = 0;
  let used = 0;
  const line = (): Span => [start, start + text.slice(start, end).replace(TRAILING, "").length];
  for (const [from, to] of splitWords(text)) {
    const bare = from + text.slice(from, to).replace(TRAILING, "").length;
    const needed = widthOf(from, bare);
    if (used + needed > width && end > start) {
      yield line();
      [start, used] = [from, 0];
    }
    end = to;
    if (needed > width) {
      for (const cut of findCuts(text, from, bare, width, widthOf)) {
        yield [start, cut] as Span;
        start = cut;
      }
      used = widthOf(start, to);
    } else used += bare < to ? widthOf(from, to) : needed;
  }
  yield line();
}

/** Yields the cuts of a word wider than a line. */
function* findCuts(
  text: string,
  from: number,
  to: number,
  width: number,
  widthOf: (start: number, end: number) => number,
): Generator<number> {
  let used = 0;
  for (const { segment, index } of graphemes.segment(text.slice(from, to))) {
    const at = from + index;
    const needed = widthOf(at, at + segment.length);
    if (used > 0 && used + needed > width) {
      yield at;
      used = 0;
    }
    used += needed;
  }
}

/** Yields unbreakable parts, each with its trailing spaces. */
function* splitWords(text: string): Generator<Span> {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!UNSPACED.test(word)) yield [index, index + word.length];
    else yield* splitParts(word, index);
  }
}

/**
 * Splits scripts without spaces into words; punctuation stays with the word before it, an opening mark with the one
 * after it.
 */
function* splitParts(text: string, at: number): Generator<Span> {
  let start = 0;
  for (const { segment, index, isWordLike } of words.segment(text)) {
    const begins = isWordLike || OPENING.test(segment);
    if (index === 0 || !begins || OPENING.test(text.slice(start, index))) continue;
    yield [at + start, at + index];
    start = index;
  }
  yield [at + start, at + text.length];
}
