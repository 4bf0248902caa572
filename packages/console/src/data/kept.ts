/** What was last shown at a place, for whoever goes back to it; the places longest not shown are forgotten. */
const kept = new Map<string, unknown>();
const MOST = 50;

export function keep(place: string, shown: unknown): void {
  kept.delete(place);
  kept.set(place, shown);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST) return;
    kept.delete(oldest);
  }
}

/** It is another's, or none is signed in. */
export const forgetKept = () => kept.clear();

export const keptAt = (place: string) => kept.get(place);
