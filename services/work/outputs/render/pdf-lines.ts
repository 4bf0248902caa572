import { asSeen, directionOf, mirrored } from "./direction.ts";

/** A piece of text in one font and style. */
export interface Piece {
  text: string;
  font: string;
  /** The font is not bold, or not slanted, where the text is to be. */
  thickened: boolean;
  slanted: boolean;
  strike: boolean;
  href: string | null;
}

/** A piece as it stands on a line. */
export interface Placed extends Piece {
  width: number;
  level: number;
}

/** The pieces of a line from left to right, as they are seen. */
export interface Line {
  pieces: Placed[];
  width: number;
  isRightToLeft: boolean;
}

export type Measure = (piece: Piece, text: string) => number;

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SPACES = " \\t\\r\\f\\v\\u1680\\u2000-\\u2006\\u2008-\\u200b\\u205f\\u3000";
const WORD = new RegExp(`[^${SPACES}]+[${SPACES}]*|[${SPACES}]+`, "gu");
const TRAILING = new RegExp(`[${SPACES}]+$`, "u");
const OPENING = /[\p{Ps}\p{Pi}]$/u;
const words = new Intl.Segmenter(undefined, { granularity: "word" });
const graphemes = new Intl.Segmenter();

type Span = [start: number, end: number];

/** Breaks the pieces of a paragraph into lines no wider than `width`. There is one at least. */
export function linesOf(pieces: readonly Piece[], width: number, measure: Measure): Line[] {
  const text = pieces.map((piece) => piece.text).join("");
  const { isRightToLeft, levels } = directionOf(text);
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

/** The pieces of a paragraph by place in its text. */
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

  /** How wide a part of the text is, whose places count from there. */
  from(base: number): (start: number, end: number) => number {
    return (start, end) => {
      let width = 0;
      for (const [piece, text] of this.#within(base + start, base + end)) width += this.#measure(piece, text);
      return width;
    };
  }

  place(start: number, end: number): Placed[] {
    return [...this.#within(start, end)].flatMap(([piece, text, at]) =>
      [...this.#byLevel(text, at)].map(([part, level]) => {
        const shown = level & 1 ? mirrored(part) : part;
        return { ...piece, text: shown, level, width: this.#measure(piece, part) };
      }),
    );
  }

  *#within(start: number, end: number): Generator<[piece: Piece, text: string, at: number]> {
    // What is asked for is mostly behind what was asked for last.
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

  *#byLevel(text: string, at: number): Generator<[part: string, level: number]> {
    const levels = this.#levels;
    if (!levels) return void (yield [text, 0]);
    for (let from = 0; from < text.length; ) {
      const level = levels[at + from] as number;
      let to = from + 1;
      while (to < text.length && levels[at + to] === level) to++;
      yield [text.slice(from, to), level];
      from = to;
    }
  }
}

/** Where lines begin and end, without the spaces at their ends. */
function* filled(text: string, width: number, widthOf: (start: number, end: number) => number) {
  let start = 0;
  let end = 0;
  let used = 0;
  const line = (): Span => [start, start + text.slice(start, end).replace(TRAILING, "").length];
  for (const [from, to] of wordsOf(text)) {
    const bare = from + text.slice(from, to).replace(TRAILING, "").length;
    const needed = widthOf(from, bare);
    if (used + needed > width && end > start) {
      yield line();
      [start, used] = [from, 0];
    }
    end = to;
    if (needed > width) {
      for (const cut of cutsOf(text, from, bare, width, widthOf)) {
        yield [start, cut] as Span;
        start = cut;
      }
      used = widthOf(start, to);
    } else used += bare < to ? widthOf(from, to) : needed;
  }
  yield line();
}

/** Where a word has to be cut that is wider than a line. */
function* cutsOf(
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

/** What is not broken, each with the spaces behind it. */
function* wordsOf(text: string): Generator<Span> {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!UNSPACED.test(word)) yield [index, index + word.length];
    else yield* partsOf(word, index);
  }
}

/** The words of scripts without spaces; a sign stays with the word before it, an opening one with that behind it. */
function* partsOf(text: string, at: number): Generator<Span> {
  let start = 0;
  for (const { segment, index, isWordLike } of words.segment(text)) {
    const begins = isWordLike || OPENING.test(segment);
    if (index === 0 || !begins || OPENING.test(text.slice(start, index))) continue;
    yield [at + start, at + index];
    start = index;
  }
  yield [at + start, at + text.length];
}
