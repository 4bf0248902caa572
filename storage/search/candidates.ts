import type { Candidate, Neighbour } from "../../lib/search-features.ts";

/** How many neighbours a candidate shows, to each side. */
export const CONTEXT = 4;

const SCOPES = ["agent", "team", "institutional"] as const;
const OWN = 14;
const EACH = 3;
const WIDTH = OWN + 2 * CONTEXT * EACH;

/** Candidates on their way between threads: numbers in one block, which moves instead of being copied. */
export interface PackedCandidates {
  ids: string[];
  numbers: Float64Array<ArrayBuffer>;
}

export function packCandidates(candidates: readonly Candidate[]): PackedCandidates {
  const numbers = new Float64Array(candidates.length * WIDTH);
  candidates.forEach((candidate, i) => {
    const { before, after, bm25, length, signs, created_at, date, confidence, importance, cites } = candidate;
    const at = i * WIDTH;
    putNeighbour(numbers, at, candidate);
    const own = [bm25, length, signs, created_at, date ?? Number.NaN, confidence, importance, cites];
    numbers.set(own, at + EACH);
    numbers[at + 11] = SCOPES.indexOf(candidate.scope) + (candidate.superseded ? SCOPES.length : 0);
    numbers[at + 12] = before.length;
    numbers[at + 13] = after.length;
    for (const [n, each] of before.entries()) putNeighbour(numbers, at + OWN + n * EACH, each);
    for (const [n, each] of after.entries()) putNeighbour(numbers, at + OWN + (CONTEXT + n) * EACH, each);
  });
  return { ids: candidates.map(({ id }) => id), numbers };
}

export function unpackCandidates({ ids, numbers }: PackedCandidates): Candidate[] {
  return ids.map((id, i) => {
    const at = i * WIDTH;
    const number = (n: number) => numbers[at + n] as number;
    const side = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => neighbourAt(numbers, at + OWN + (from + n) * EACH));
    return {
      ...neighbourAt(numbers, at),
      id,
      bm25: number(3),
      length: number(4),
      signs: number(5),
      created_at: number(6),
      date: Number.isNaN(number(7)) ? null : number(7),
      confidence: number(8),
      importance: number(9),
      cites: number(10),
      scope: SCOPES[number(11) % SCOPES.length] as Candidate["scope"],
      superseded: number(11) >= SCOPES.length,
      before: side(0, number(12)),
      after: side(CONTEXT, number(13)),
    };
  });
}

function putNeighbour(numbers: Float64Array, at: number, { has, title, cosine }: Neighbour): void {
  numbers[at] = has;
  numbers[at + 1] = title;
  numbers[at + 2] = cosine ?? Number.NaN;
}

function neighbourAt(numbers: Float64Array, at: number): Neighbour {
  const cosine = numbers[at + 2] as number;
  return {
    has: numbers[at] as number,
    title: numbers[at + 1] as number,
    cosine: Number.isNaN(cosine) ? null : cosine,
  };
}
