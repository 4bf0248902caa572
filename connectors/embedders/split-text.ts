import { beginningOf } from "../../lib/text/beginning.ts";

/** Most characters of a part. The model's time grows with the length of a text, and it keeps little of a long one. */
export const PART = 500;
/** Only this many parts of a text count. */
const MAX_PARTS = 6;

/** Cuts a text into parts at word boundaries; an empty text is one empty part. */
export function splitText(text: string): string[] {
  const found: string[] = [];
  let rest = text.replace(/\s+/g, " ").trim();
  while (rest.length > PART && found.length < MAX_PARTS - 1) {
    const end = rest.lastIndexOf(" ", PART);
    const part = end > PART / 2 ? rest.slice(0, end) : beginningOf(rest, PART);
    found.push(part);
    rest = rest.slice(part.length).trimStart();
  }
  return [...found, beginningOf(rest, PART)];
}

/** Returns the unit-length mean of unit vectors. */
export function averageOf(vectors: readonly Float32Array[]): Float32Array {
  const first = vectors[0] as Float32Array;
  if (vectors.length === 1) return first;
  return first.map(
    (_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0) / vectors.length,
  );
}
