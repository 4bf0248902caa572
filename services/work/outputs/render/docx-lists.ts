import { AlignmentType, type IParagraphOptions, LevelFormat } from "docx";
import type { List } from "./blocks.ts";

/** Of each level of a list, in twentieths of a point. */
export const INDENT = 360;

/** So many levels lists of Word have, and so far they count. */
const LEVELS = 9;
const LARGEST = 32_767;

const BULLETS = ["•", "◦", "▪"];

type Numbering = Exclude<IParagraphOptions["numbering"], false | undefined>;
type Definition = Exclude<Numbering["reference"], string>;

/** The lists of a document as lists of Word, in which whoever edits it goes on. */
export class DocxLists {
  readonly #counting = new Map<List, Pick<Numbering, "reference" | "instance">>();

  /** How a paragraph says that it is an item; null for one of a list that Word does not have. */
  numberingOf({ list, marker }: { list: List; marker: string }): Numbering | null {
    const { depth: level, numbers } = list;
    if (level >= LEVELS || (numbers && numbers.to > LARGEST)) return null;
    if (numbers) return { level, ...this.#countingOf(list, numbers.from) };
    const reference = marker === BULLETS[0] ? BULLETED : allMarked(marker);
    // Where nothing is counted, all lists are one.
    return { level, reference, instance: 0 };
  }

  /** An instance of its own: each list counts for itself. */
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

/** What is moved to another level there counts from 1. */
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
  // The library puts numbers in place of `{reference}`, wherever it stands: a line of text cannot say this one.
  return { reference: `\n${name}`, levels };
}
