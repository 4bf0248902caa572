import makeBidi, { type Bidi } from "bidi-js";
import { hasRightToLeft } from "../../lib/text/right-to-left.ts";

const LETTER = /\p{L}/u;
const graphemes = new Intl.Segmenter();
// Its types declare an ES module, but Node loads the CommonJS one.
const bidi = (makeBidi as unknown as () => Bidi)();

/** The direction of a text: even levels run left to right, odd ones right to left. */
interface Direction {
  isRightToLeft: boolean;
  /** One per UTF-16 code unit; null if all of it runs left to right. */
  levels: Uint8Array | null;
}

/** Returns the direction of a paragraph, which is that of its first letter (UAX #9). */
export function detectDirection(text: string): Direction {
  if (!hasRightToLeft(text)) return { isRightToLeft: false, levels: null };
  const { levels, paragraphs } = bidi.getEmbeddingLevels(text);
  return { isRightToLeft: ((paragraphs[0]?.level ?? 0) & 1) === 1, levels };
}

/** Yields parts of one level each, by the levels of a text that has this one at `at`. */
export function* byLevel(
  text: string,
  levels: Uint8Array | null,
  at = 0,
): Generator<[part: string, level: number]> {
  if (!levels) return void (yield [text, 0]);
  for (let from = 0; from < text.length; ) {
    const level = levels[at + from] as number;
    let to = from + 1;
    while (to < text.length && levels[at + to] === level) to++;
    yield [text.slice(from, to), level];
    from = to;
  }
}

/** Reorders a line's runs for display from left to right (UAX #9, L2). */
export function asSeen<T extends { level: number }>(runs: readonly T[]): T[] {
  const seen = [...runs];
  const highest = runs.reduce((most, { level }) => Math.max(most, level), 0);
  for (let level = highest; level > 0; level--) {
    for (let from = 0; from < seen.length; from++) {
      let to = from;
      while (to < seen.length && (seen[to] as T).level >= level) to++;
      if (to > from) seen.splice(from, to - from, ...seen.slice(from, to).reverse());
      from = Math.max(from, to);
    }
  }
  return seen;
}

/** Prepares right-to-left text for a font, which reverses letters itself, but signs only between letters. */
export function mirrored(text: string): string {
  const signs = Array.from(text, (sign) => bidi.getMirroredCharacter(sign) ?? sign).join("");
  if (LETTER.test(signs)) return signs;
  return Array.from(graphemes.segment(signs), ({ segment }) => segment)
    .reverse()
    .join("");
}
