/** An output that a search found. */
interface Found {
  _id: string;
  score: number;
  superseded_by: string | null;
}

/** Sorts best first, with a superseded output below its successor if both were found (spec: search outputs). */
export function ranked<T extends Found>(found: readonly T[]): T[] {
  const byId = new Map(found.map((each) => [each._id, each]));
  const placed = found.map((each) => ({ each, ...placeOf(each, byId) }));
  placed.sort((a, b) => b.score - a.score || a.depth - b.depth);
  return placed.map(({ each, score }) => ({ ...each, score }));
}

function placeOf(found: Found, byId: ReadonlyMap<string, Found>): { score: number; depth: number } {
  let { score } = found;
  const above = new Set([found._id]);
  for (let next = newer(found, byId); next && !above.has(next._id); next = newer(next, byId)) {
    above.add(next._id);
    score = Math.min(score, next.score);
  }
  return { score, depth: above.size };
}

function newer({ superseded_by }: Found, byId: ReadonlyMap<string, Found>): Found | undefined {
  return superseded_by === null ? undefined : byId.get(superseded_by);
}
