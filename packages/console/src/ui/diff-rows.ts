import { diffLines, diffWordsWithSpace } from "diff";

/** A part of a line; `changed` if it differs from the corresponding line. */
interface Stretch {
  text: string;
  changed: boolean;
}

export interface DiffRow {
  kind: "same" | "removed" | "added";
  /** The line's number in the old and in the new text, from 1. */
  before: number | null;
  after: number | null;
  text: Stretch[];
}

/** With more edits, the texts are unrelated, and finding the smallest difference would take minutes. */
const MAX_EDITS = 20_000;

/** Merges the lines of two texts into one list, with changed words marked; null if they differ too much to compare. */
export function diffRows(before: string, after: string): DiffRow[] | null {
  const parts = diffLines(before, after, { maxEditLength: MAX_EDITS });
  if (!parts) return null;
  const at = { before: 0, after: 0 };
  return parts.flatMap((part, index) => {
    const other = counterpart(parts, index);
    const lines = linesOf(part.value);
    const marked = other && linesOf(other.value).length === lines.length ? linesOf(other.value) : undefined;
    return lines.map((line, number) => rowOf(part, line, marked?.[number], at));
  });
}

interface Part {
  value: string;
  added?: boolean;
  removed?: boolean;
}

/** A removed part corresponds to the added part right after it. */
function counterpart(parts: Part[], index: number): Part | undefined {
  const [last, part, next] = [parts[index - 1], parts[index], parts[index + 1]];
  if (part?.removed && next?.added) return next;
  return part?.added && last?.removed ? last : undefined;
}

function rowOf(
  part: Part,
  line: string,
  against: string | undefined,
  at: { before: number; after: number },
): DiffRow {
  const kind = part.removed ? "removed" : part.added ? "added" : "same";
  return {
    kind,
    before: kind === "added" ? null : ++at.before,
    after: kind === "removed" ? null : ++at.after,
    text: against === undefined ? [{ text: line, changed: false }] : stretches(line, against),
  };
}

/** Splits a line into parts, marking words that the other line lacks. */
function stretches(line: string, against: string): Stretch[] {
  return diffWordsWithSpace(against, line)
    .filter((word) => !word.removed)
    .map((word) => ({ text: word.value, changed: word.added === true }));
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
