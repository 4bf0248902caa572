import { MEMORY_SCOPES } from "../../lib/access/visibility.ts";
import type { Candidate, Neighbour } from "./features.ts";
import { CONTEXT } from "./limits.ts";

const OWN = 15;
const EACH = 3;
const WIDTH = OWN + 2 * CONTEXT * EACH;

/** Candidates for transfer between threads: all numbers in one block, which is moved instead of copied. */
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
    numbers[at + 11] =
      MEMORY_SCOPES.indexOf(candidate.scope) + (candidate.superseded ? MEMORY_SCOPES.length : 0);
    numbers[at + 12] = before.length;
    numbers[at + 13] = after.length;
    numbers[at + 14] = candidate.asked;
    for (const [n, each] of before.entries()) putNeighbour(numbers, at + OWN + n * EACH, each);
    for (const [n, each] of after.entries()) putNeighbour(numbers, at + OWN + (CONTEXT + n) * EACH, each);
  });
  return { ids: candidates.map(({ id }) => id), numbers };
}

export function unpackCandidates({ ids, numbers }: PackedCandidates): Candidate[] {
  return ids.map((id, i) => unpackOne(id, numbers, i * WIDTH));
}

// Runs for every candidate of every search, in the thread that all requests share.
function unpackOne(id: string, numbers: Float64Array, at: number): Candidate {
  const { has, title, cosine } = neighbourAt(numbers, at);
  const date = numbers[at + 7] as number;
  const scope = numbers[at + 11] as number;
  return {
    has,
    title,
    cosine,
    id,
    bm25: numbers[at + 3] as number,
    length: numbers[at + 4] as number,
    signs: numbers[at + 5] as number,
    created_at: numbers[at + 6] as number,
    date: Number.isNaN(date) ? null : date,
    confidence: numbers[at + 8] as number,
    importance: numbers[at + 9] as number,
    cites: numbers[at + 10] as number,
    scope: MEMORY_SCOPES[scope % MEMORY_SCOPES.length] as Candidate["scope"],
    superseded: scope >= MEMORY_SCOPES.length,
    before: sideAt(numbers, at + OWN, numbers[at + 12] as number),
    after: sideAt(numbers, at + OWN + CONTEXT * EACH, numbers[at + 13] as number),
    asked: numbers[at + 14] as number,
  };
}

function sideAt(numbers: Float64Array, at: number, count: number): Neighbour[] {
  const side: Neighbour[] = [];
  for (let n = 0; n < count; n++) side.push(neighbourAt(numbers, at + n * EACH));
  return side;
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
