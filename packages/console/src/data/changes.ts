/** Returns the fields that the person changed, so that saving keeps others' changes to the rest. */
export function changesOf<T extends object>(before: { [name in keyof T]: unknown }, after: T): Partial<T> {
  const names = Object.keys(after) as (keyof T)[];
  const changed = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<T>;
}
