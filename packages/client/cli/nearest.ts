/** Returns the name most like a typed one, if any is like it: a letter or two wrong, missing, extra or swapped. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const most = typed.length < 5 ? 1 : 2;
  const ranked = names
    .map((name) => [name.startsWith(typed) && typed.length > 2 ? 1 : distance(typed, name), name] as const)
    .filter(([far]) => far <= most)
    .sort(([a], [b]) => a - b);
  return ranked[0]?.[1];
}

/** Returns the sentence that suggests it, or nothing. */
export function didYouMean(typed: string, names: readonly string[], shown = (name: string) => name): string {
  const name = nearest(typed, names);
  return name === undefined ? "" : ` Did you mean ${shown(name)}?`;
}

/** The number of edits between two words (optimal string alignment). */
function distance(a: string, b: string): number {
  let [before, above]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const edits = [(above[j] as number) + 1, (row[j - 1] as number) + 1, (above[j - 1] as number) + cost];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(...edits, isSwap ? (before[j - 2] as number) + 1 : Infinity));
    }
    [before, above] = [above, row];
  }
  return above[b.length] as number;
}
