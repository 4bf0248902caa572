/** The last data of each place, for going back to it; the least recently shown places are dropped. */
const kept = new Map<string, unknown>();
const MAX_ENTRIES = 50;

export function keep(place: string, shown: unknown): void {
  kept.delete(place);
  kept.set(place, shown);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_ENTRIES) return;
    kept.delete(oldest);
  }
}

/** Clears everything when another person signs in, or nobody is signed in. */
export const forgetKept = () => kept.clear();

export const keptAt = (place: string) => kept.get(place);
