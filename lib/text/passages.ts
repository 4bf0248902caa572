/** What embedders read whole, and a person at a glance. */
export const MAX_PIECE = 1200;
/** From here on a piece ends with its paragraph. */
const ENOUGH = 500;
/** A piece that ends within a paragraph is followed by one that begins with its last sentences. */
const OVERLAP = 200;

/** A sentence or a line with the white space behind it: what is not cut, where it is short enough. */
interface Atom {
  start: number;
  end: number;
  endsParagraph: boolean;
}

/** Where in a text its pieces are: they overlap, and end where paragraphs and sentences do. */
export function* passagesOf(text: string): Generator<[start: number, end: number]> {
  const atoms = atomsOf(text);
  for (let first = 0; first < atoms.length; ) {
    const last = lastOf(atoms, first);
    const span = trimmed(text, (atoms[first] as Atom).start, (atoms[last] as Atom).end);
    if (span) yield span;
    if (last === atoms.length - 1) return;
    first = nextFirst(atoms, first, last);
  }
}

/** As many as fit; but where a paragraph ends after enough of them, only so many. */
function lastOf(atoms: Atom[], first: number): number {
  const { start } = atoms[first] as Atom;
  let last = first;
  let paragraph = -1;
  for (let at = first; at < atoms.length; at++) {
    const { end, endsParagraph } = atoms[at] as Atom;
    if (end - start > MAX_PIECE) return paragraph < 0 ? last : paragraph;
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

/** Ends of paragraphs, lines and sentences: no space has to follow the full stops of scripts that have none. */
const ENDS = /\n\n+|\n|[.!?…؟۔।]["'”’»)\]]?\s+|[。！？]+["'”’»)\]」』）】]?\s*/g;

function atomsOf(text: string): Atom[] {
  const atoms: Atom[] = [];
  let start = 0;
  for (const match of text.matchAll(ENDS)) {
    const end = match.index + match[0].length;
    addAtoms(atoms, text, { start, end, endsParagraph: match[0].includes("\n\n") });
    start = end;
  }
  if (start < text.length) addAtoms(atoms, text, { start, end: text.length, endsParagraph: true });
  return atoms;
}

/** One too long for a piece is cut between words; a word too long is cut between characters. */
function addAtoms(atoms: Atom[], text: string, { start, end, endsParagraph }: Atom): void {
  let from = start;
  while (end - from > MAX_PIECE) {
    const to = cutBefore(text, from, from + MAX_PIECE);
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
  const piece = text.slice(from, to);
  const start = from + piece.length - piece.trimStart().length;
  const end = start + piece.trim().length;
  return end > start ? [start, end] : null;
}
