/** Characters of a passage: embedders read it whole, people at a glance. */
export const MAX_PASSAGE = 1200;
/** From this length on a passage ends with its paragraph. */
const ENOUGH = 500;
/** A passage that ends within a paragraph is followed by one that repeats its last sentences. */
const OVERLAP = 200;

/** A sentence or line with the following white space, cut only if too long. */
interface Atom {
  start: number;
  end: number;
  endsParagraph: boolean;
}

/** Yields the positions of a text's overlapping passages, which end with paragraphs and sentences. */
export function* splitPassages(text: string): Generator<[start: number, end: number]> {
  const atoms = splitAtoms(text);
  for (let first = 0; first < atoms.length; ) {
    const last = findLast(atoms, first);
    const span = trimmed(text, (atoms[first] as Atom).start, (atoms[last] as Atom).end);
    if (span) yield span;
    if (last === atoms.length - 1) return;
    first = nextFirst(atoms, first, last);
  }
}

/** Returns the last atom that fits, or the last end of a paragraph after `ENOUGH` characters. */
function findLast(atoms: Atom[], first: number): number {
  const { start } = atoms[first] as Atom;
  let last = first;
  let paragraph = -1;
  for (let at = first; at < atoms.length; at++) {
    const { end, endsParagraph } = atoms[at] as Atom;
    if (end - start > MAX_PASSAGE) return paragraph < 0 ? last : paragraph;
    if (endsParagraph && end - start >= ENOUGH) paragraph = at;
    last = at;
  }
  return last;
}

function nextFirst(atoms: Atom[], first: number, last: number): number {
  const { end, endsParagraph } = atoms[last] as Atom;
  let next = last + 1;
  if (endsParagraph) return next;
  while (next - 1 > first && end - (atoms[next - 1] as Atom).start <= OVERLAP) next--;
  return next;
}

/** Ends of paragraphs, lines and sentences. Scripts without spaces have none after a full stop. */
const ENDS = /\n\n+|\n|[.!?…؟۔।]["'”’»)\]]?\s+|[。！？]+["'”’»)\]」』）】]?\s*/g;

function splitAtoms(text: string): Atom[] {
  const atoms: Atom[] = [];
  let start = 0;
  let line = 0;
  for (const match of text.matchAll(ENDS)) {
    const isLineEnd = match[0].includes("\n");
    // A row of a table stays whole.
    if (!isLineEnd && text[line] === "|") continue;
    if (isLineEnd) line = match.index + match[0].length;
    const end = match.index + match[0].length;
    addAtoms(atoms, text, { start, end, endsParagraph: match[0].includes("\n\n") });
    start = end;
  }
  if (start < text.length) addAtoms(atoms, text, { start, end: text.length, endsParagraph: true });
  return atoms;
}

/** Cuts an atom that is too long between words, and a word that is too long between characters. */
function addAtoms(atoms: Atom[], text: string, { start, end, endsParagraph }: Atom): void {
  let from = start;
  while (end - from > MAX_PASSAGE) {
    const to = cutBefore(text, from, from + MAX_PASSAGE);
    atoms.push({ start: from, end: to, endsParagraph: false });
    from = to;
  }
  atoms.push({ start: from, end, endsParagraph });
}

function cutBefore(text: string, from: number, limit: number): number {
  for (let at = limit; at > from + ENOUGH; at--) if (isSpace(text.charCodeAt(at - 1))) return at;
  const code = text.charCodeAt(limit);
  return code >= 0xdc00 && code <= 0xdfff ? limit - 1 : limit;
}

const isSpace = (code: number) => code <= 0x20 || code === 0xa0 || code === 0x3000;

function trimmed(text: string, from: number, to: number): [start: number, end: number] | null {
  const passage = text.slice(from, to);
  const start = from + passage.length - passage.trimStart().length;
  const end = start + passage.trim().length;
  return end > start ? [start, end] : null;
}
