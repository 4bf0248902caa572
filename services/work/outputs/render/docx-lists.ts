import { AlignmentType, type IParagraphOptions, LevelFormat } from "docx";
import type { List } from "./blocks.ts";

/** Indent per level of a list, in twentieths of a point. */
export const INDENT = 360;

/** Word's lists have this many levels. */
const LEVELS = 9;
const LARGEST = 32_767;

const BULLETS = ["•", "◦", "▪"];

type Numbering = Exclude<IParagraphOptions["numbering"], false | undefined>;
type Definition = Exclude<Numbering["reference"], string>;

/** Creates Word lists, so that numbering continues when the document is edited. */
export class DocxLists {
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
