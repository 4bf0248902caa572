interface Nearest {
  name: string;
  /** Whether it is few enough edits away for a misspelling. */
  close: boolean;
}

/** Returns the most similar name, ignoring case, `_`, `-` and spaces; undefined without names. */
export function nearest(given: string, names: readonly string[]): Nearest | undefined {
  const wanted = plain(given);
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(wanted, plain(name));
    if (!best || distance < best.distance) best = { name, distance };
  }
  return (
    best && {
      name: best.name,
      close: best.distance <= Math.max(wanted.length > 3 ? 2 : 1, wanted.length / 3),
    }
  );
}

/** Only this many characters are compared: the cost grows with the product of both lengths. */
const COMPARED = 64;

function plain(name: string): string {
  return name
    .slice(0, COMPARED)
    .toLowerCase()
    .replace(/[\s_-]/g, "");
}

/** Edit distance. A name contained in the other (`type` in `event_type`) has distance 1. */
function editDistance(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a))) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] as number) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
