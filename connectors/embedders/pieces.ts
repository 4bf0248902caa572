/** The model reads a text in time that grows with it, and remembers little of a long one. */
const PIECE = 500;
/** What comes after so much of a text does not count. */
const MOST_PIECES = 6;

/** A text in pieces that end where words do; one, empty, for an empty text. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  let rest = text.replace(/\s+/g, " ").trim();
  while (rest.length > PIECE && found.length < MOST_PIECES - 1) {
    const end = rest.lastIndexOf(" ", PIECE);
    const at = end > PIECE / 2 ? end : PIECE;
    found.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...found, rest.slice(0, PIECE)];
}

/** The mean of vectors of length one. */
export function averageOf(vectors: readonly Float32Array[]): Float32Array {
  const first = vectors[0] as Float32Array;
  if (vectors.length === 1) return first;
  return first.map(
    (_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0) / vectors.length,
  );
}
