interface Nearest {
  name: string;
  /** Whether it is few enough edits away for a misspelling. */
  close: boolean;
}

/** Returns the most similar name, ignoring case, `_`, `-` and spaces; undefined without names. */
export function nearest(word: string, names: readonly string[]): Nearest | undefined {
  const wanted = plain(word);
  const [best] = names
    .map((name) => ({ name, distance: distanceTo(wanted, plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const most = Math.max(wanted.length > 3 ? 2 : 1, wanted.length / 3);
  return best && { name: best.name, close: best.distance <= most };
}

/** A name contained in the other, as `type` in `event_type`, is as near as a slip. */
function distanceTo(a: string, b: string): number {
  const isPart = a !== b && a.length > 2 && b.length > 2 && (a.includes(b) || b.includes(a));
  return isPart ? 1 : editDistance(a, b);
}

/** Only this many characters are compared: the cost grows with the product of both lengths. */
const COMPARED = 64;

/** The letters and digits of a name that are compared. */
export function plain(name: string): string {
  return name
    .slice(0, COMPARED)
    .toLowerCase()
    .replace(/[\s_-]/g, "");
}

/** Returns how many letters are wrong, missing or extra. */
export function editDistance(a: string, b: string): number {
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
