/** The model's time grows with the length of a text, and it keeps little of a long one. */
const PIECE = 500;
/** Only this many pieces of a text count. */
const MOST_PIECES = 6;

/** Cuts a text into pieces at word boundaries; an empty text is one empty piece. */
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

/** Returns the unit-length mean of unit vectors. */
export function averageOf(vectors: readonly Float32Array[]): Float32Array {
  const first = vectors[0] as Float32Array;
  if (vectors.length === 1) return first;
  return first.map(
    (_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0) / vectors.length,
  );
}
